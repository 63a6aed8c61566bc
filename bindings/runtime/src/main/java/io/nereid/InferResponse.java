package io.nereid;

import io.nereid.internal.ffi.ObjectiveRecord;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.Slot;
import io.nereid.internal.request.SlotPool;
import io.nereid.internal.request.StreamedResponse;
import io.nereid.statistics.Timings;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * An answer to a request. Its outputs are memory of the runtime's pool and are read in place until
 * the response is closed, which gives the memory back; a response that is not closed keeps it. Any
 * thread may read it and close it.
 *
 * <p>Timings and batch size of a request are known when it ends: they are zero in responses of a
 * {@link ResponseStream} that are not {@linkplain #isFinal final}.
 */
public final class InferResponse extends TensorOwner implements AutoCloseable {

  private static final Timings UNKNOWN = new Timings(0, 0, 0, 0);

  private final SlotPool pool;

  // The response that completes a request is read out of the request's record.
  private final Slot slot; // null: this is an earlier response
  private final long generation;

  /** A response before the last, which has memory of its own; null: this is the last one. */
  private final StreamedResponse earlier;

  InferResponse(Slot slot, long generation) {
    pool = slot.pool();
    this.slot = slot;
    this.generation = generation;
    earlier = null;
  }

  InferResponse(StreamedResponse earlier) {
    pool = earlier.pool();
    slot = null;
    generation = 0;
    this.earlier = earlier;
  }

  private Signature signature() {
    return pool.signature();
  }

  /** The model's name. */
  public String modelName() {
    return signature().spec().name();
  }

  /** The version that answered. */
  public long modelVersion() {
    return signature().spec().version();
  }

  /** The request's id, when it had one. */
  public Optional<String> id() {
    enter();
    try {
      return Optional.ofNullable(earlier == null ? slot.content().id() : earlier.id());
    } finally {
      exit();
    }
  }

  /**
   * The values that the backend sends with the response besides outputs: each one a String, a Long,
   * a Boolean or a Double. Backends in Java send none, and neither does the response cache. An
   * ensemble's response to a request of a sequence has {@code sequence_id}, {@code sequence_start}
   * and {@code sequence_end}.
   */
  public Map<String, Object> parameters() {
    if (!signature().answersValues()) {
      return Map.of();
    }
    enter();
    try {
      return earlier == null ? StreamedResponse.values(slot) : earlier.parameters();
    } finally {
      exit();
    }
  }

  /**
   * The error that a decoupled model has sent in place of outputs, as one of several responses:
   * others may follow. {@link ResponseStream#next} throws an error that ends the request.
   */
  public Optional<NereidException> failure() {
    return earlier == null ? Optional.empty() : Optional.ofNullable(earlier.failure());
  }

  /** Names of the outputs that are here, in the model's order; none for a failure. */
  public List<String> outputNames() {
    enter();
    try {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < signature().outputs().size(); i++) {
        if (isThere(i)) {
          names.add(signature().outputs().name(i));
        }
      }
      return names;
    } finally {
      exit();
    }
  }

  /**
   * An output by name; {@link StatusCode#NOT_FOUND} when the request did not ask for it. Throws the
   * {@linkplain #failure failure} where there is one.
   */
  public Tensor output(String name) {
    return output(signature().outputIndex(name));
  }

  /** An output by position in the model's specification. */
  public Tensor output(int index) {
    Objects.checkIndex(index, signature().outputs().size());
    Tensor output = earlier == null ? recorded(index) : earlier.output(index);
    if (output == null && failure().isPresent()) {
      throw failure().get();
    }
    if (output == null) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "output '" + signature().outputs().name(index) + "' was not requested");
    }
    return output;
  }

  private boolean isThere(int output) {
    return earlier == null
        ? slot.record().output(output).isThere()
        : earlier.output(output) != null;
  }

  /** An output of the response that completed the request; null: it is not there. */
  private Tensor recorded(int index) {
    slot.enter(generation, Slot.RESPONSE);
    try {
      TensorRecord output = slot.record().output(index);
      long data = output.data();
      return data == 0
          ? null
          : tensor(output.dataType(), output.shape(), data, output.byteSize(), output.isOnDevice());
    } finally {
      slot.exit();
    }
  }

  /**
   * True if the request is over, so that this is its last response. A response that is not final
   * can still be the last that comes: then {@link ResponseStream#next} returns null or throws.
   */
  public boolean isFinal() {
    return earlier == null;
  }

  /** The times that the request spent waiting and in each stage of its execution. */
  public Timings timings() {
    return read(RequestRecord::timings, UNKNOWN);
  }

  /** Rows of the batch that the request was executed in; 0 when it was not executed. */
  public int executedBatchSize() {
    return read(RequestRecord::executedBatchSize, 0);
  }

  /** True if the request was executed on the thread that sent it. */
  public boolean ranInline() {
    return read(RequestRecord::ranInline, false);
  }

  /** True if the answer came from the response cache. */
  public boolean cacheHit() {
    return read(RequestRecord::cacheHit, false);
  }

  /**
   * Tells the runtime that the answer has left for the client now; for code that stands between
   * clients and a model with an objective. The runtime learns how much time passed outside the
   * model since the request came, and keeps that much of the objective free from then on. A model
   * without an objective learns nothing, and only the last response of a request counts.
   *
   * @param cameNs when the request came, by the clock of {@link System#nanoTime}; 0: unknown, and
   *     the runtime learns nothing
   */
  public void sent(long cameNs) {
    if (cameNs == 0) {
      return;
    }
    long tookNs = System.nanoTime() - cameNs;
    read(
        record -> {
          ObjectiveRecord.sent(record, Math.max(0, tookNs));
          return true;
        },
        false);
  }

  /**
   * Returns a field of the record, or {@code otherwise} for a response that is not the last: the
   * record has another answer by then.
   */
  private <T> T read(Function<RequestRecord, T> field, T otherwise) {
    enter();
    try {
      return earlier == null ? field.apply(slot.record()) : otherwise;
    } finally {
      exit();
    }
  }

  /**
   * Lets an input of a request refer to the output that is at this address; false when this
   * response owns none there, or the request goes to another runtime.
   */
  boolean share(SlotPool to, long data, TensorRecord input) {
    if (to.memory() != pool.memory()) {
      return false;
    }
    enter();
    try {
      for (int i = 0; i < signature().outputs().size(); i++) {
        TensorRecord output = slot.record().output(i);
        if (output.buffer() != 0 && output.data() == data) {
          input.share(output.buffer(), data);
          return true;
        }
      }
      return false;
    } finally {
      exit();
    }
  }

  /** Gives the outputs back. Closing twice does nothing. */
  @Override
  public void close() {
    if (earlier == null) {
      slot.close(generation, Slot.RESPONSE);
    } else {
      earlier.close();
    }
  }

  /** Keeps the memory from being given back until {@link #exit}; throws when this was closed. */
  private void enter() {
    if (earlier == null) {
      slot.enter(generation, Slot.RESPONSE);
    } else {
      earlier.checkOpen();
    }
  }

  private void exit() {
    if (earlier == null) {
      slot.exit();
    }
  }

  @Override
  protected void checkOpen() {
    slot.check(generation, Slot.RESPONSE);
  }

  @Override
  protected MemorySegment memory() {
    return slot.lend(generation, Slot.RESPONSE, pool.memory().readOnly());
  }
}
