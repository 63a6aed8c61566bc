package io.nereid;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Copies IN to OUT, one batch for each permit: tests decide what executes, and when. */
final class GateBackend implements Backend {

  private final Semaphore entered = new Semaphore(0);
  private final Semaphore permits = new Semaphore(0);

  /** First element of each request, in the order of execution. */
  final List<Float> executed = new CopyOnWriteArrayList<>();

  /** Whether any request was seen as cancelled after its batch had been let through. */
  volatile boolean sawCancel;

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) throws Exception {
    entered.release();
    if (!permits.tryAcquire(10 * RuntimeTest.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("nobody opened the gate");
    }
    for (int i = 0; i < batch.requestCount(); i++) {
      executed.add(batch.request(i).input("IN").floatAt(0));
      sawCancel |= batch.request(i).isCancelled();
    }
    batch.output("OUT", batch.input("IN"));
  }

  /** Waits until a batch is at the gate. */
  void awaitBatch() throws InterruptedException {
    if (!entered.tryAcquire(RuntimeTest.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("no batch came");
    }
  }

  /** Lets batches through. */
  void open(int batches) {
    permits.release(batches);
  }

  /** A model on this backend that never runs inline. */
  ModelSpec.Builder model(String name) {
    return RuntimeTest.identity(name).backend(this).inline(false);
  }
}
