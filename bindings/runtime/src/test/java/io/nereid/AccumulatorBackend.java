package io.nereid;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Adds up the numbers of each sequence, by what controls tell: START begins anew, READY says which
 * rows count, CORRID which sequence a row is. The sums are those of an instance, so that they are
 * wrong where a sequence changes it; what requests say of themselves must be the same.
 */
final class AccumulatorBackend implements Backend {

  /** What went wrong, in words. */
  final List<String> faults = new CopyOnWriteArrayList<>();

  /** Sequences that are being executed. */
  private final Map<String, Boolean> running = new ConcurrentHashMap<>();

  /** The largest batch so far. */
  volatile int mostRequests;

  /** Batches are let through; null: all are. */
  private volatile Semaphore gate;

  private final Semaphore entered = new Semaphore(0);

  /** Batches wait from now on until {@link #open} lets them through. */
  void shut() {
    gate = new Semaphore(0);
  }

  void open(int batches) {
    gate.release(batches);
  }

  void awaitBatch() throws InterruptedException {
    if (!entered.tryAcquire(RuntimeTest.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("no batch came");
    }
  }

  /** One number in, the sum so far out; up to so many rows. */
  ModelSpec.Builder model(String name, int rows, DataType ids, SequenceBatching sequences) {
    return ModelSpec.builder(name)
        .backend(this)
        .maxBatchSize(rows)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .sequenceBatching(
            sequences
                .withControl("START", Kind.START, DataType.INT32)
                .withControl("END", Kind.END, DataType.BOOL)
                .withControl("READY", Kind.READY, DataType.FP32)
                .withControl("CORRID", Kind.CORRID, ids));
  }

  @Override
  public BackendInstance open(ModelContext context) {
    Map<String, Integer> sums = new HashMap<>();
    return batch -> execute(batch, sums);
  }

  private void execute(Batch batch, Map<String, Integer> sums) throws InterruptedException {
    mostRequests = Math.max(mostRequests, batch.requestCount());
    Semaphore gate = this.gate;
    if (gate != null) {
      entered.release();
      if (!gate.tryAcquire(RuntimeTest.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody opened the gate");
      }
    }
    Tensor in = batch.input("IN");
    Tensor out = batch.output("OUT", Math.max(1, batch.size()), 1);
    Tensor ready = batch.input("READY");
    int readyRows = 0;
    for (int row = 0; row < batch.size(); row++) {
      readyRows += ready.floatAt(row) == 1 ? 1 : 0;
      set(out, row, -1);
    }
    check(readyRows == batch.requestCount(), "READY " + readyRows + " of " + batch);
    for (int i = 0; i < batch.requestCount(); i++) {
      execute(batch, batch.request(i), sums, in, out);
    }
  }

  private void execute(
      Batch batch, BatchRequest request, Map<String, Integer> sums, Tensor in, Tensor out) {
    int row = (int) request.firstRow();
    String id = request.sequence().map(Object::toString).orElse("none");
    check(running.putIfAbsent(id, true) == null, id + " runs twice");
    check(batch.input("READY").floatAt(row) == 1, id + " is not ready in row " + row);
    check(text(batch.input("CORRID"), row).equals(id), "row " + row + " is not " + id);
    boolean start = batch.input("START").intAt(row) == 1;
    check(start == request.isSequenceStart(), id + ", START " + start);
    boolean end = batch.input("END").booleanAt(row);
    check(end == request.isSequenceEnd(), id + ", END " + end);
    check(start || sums.containsKey(id), id + " goes on where it never was");
    int sum = in.intAt(row) + (start ? 0 : sums.getOrDefault(id, 0));
    sums.put(id, sum);
    if (end) {
      sums.remove(id);
    }
    set(out, row, sum);
    running.remove(id);
  }

  private static void set(Tensor out, int row, int value) {
    out.segment().setAtIndex(ValueLayout.JAVA_INT, row, value);
  }

  private static String text(Tensor ids, int row) {
    return switch (ids.dataType()) {
      case BYTES -> ids.stringAt(row);
      case UINT64, INT64 -> Long.toUnsignedString(ids.longAt(row));
      default -> Integer.toUnsignedString(ids.intAt(row));
    };
  }

  private void check(boolean holds, String fault) {
    if (!holds) {
      faults.add(fault);
    }
  }
}
