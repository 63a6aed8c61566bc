package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.model.SequenceId;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A sequence of requests to a model, which executes them in the order in which they are sent:
 *
 * {@snippet :
 * try (Sequence sequence = model.sequence(42)) {
 *   for (Tensor part : parts) {
 *     try (InferRequest request = sequence.newRequest().input("AUDIO", part);
 *         InferResponse response = request.infer()) {
 *       // ...
 *     }
 *   }
 *   try (InferRequest request = sequence.lastRequest().input("AUDIO", silence);
 *       InferResponse response = request.infer()) {
 *     // ...
 *   }
 * }
 * }
 *
 * <p>Its first request starts it, by itself: the first that is sent, and when that one fails the
 * next one. {@link #lastRequest} ends it. Closing sends nothing: a sequence that was not ended by
 * then keeps its place until the model's idle time is over. Any thread may call; who sends from
 * several sees to the order.
 */
public final class Sequence implements AutoCloseable {

  private final Model model;
  private final SequenceId id;

  /** Whether the next request that is sent has to start it. */
  private final AtomicBoolean startDue = new AtomicBoolean(true);

  private final AtomicBoolean ended = new AtomicBoolean();

  Sequence(Model model, SequenceId id) {
    this.model = model;
    this.id = Checks.notNull(id, "id");
    if (id.isNone()) {
      throw new IllegalArgumentException("a sequence needs an id that is not 0 or empty");
    }
  }

  /** What it is called. */
  public SequenceId id() {
    return id;
  }

  /** Its next request, to be filled in, sent once, and closed. */
  public InferRequest newRequest() {
    if (ended.get()) {
      throw ended();
    }
    return model.newRequest().sequence(id, startDue);
  }

  /** Its last request: the sequence ends with it, and has no more. */
  public InferRequest lastRequest() {
    if (ended.getAndSet(true)) {
      throw ended();
    }
    return model.newRequest().sequence(id, startDue).sequenceEnd(true);
  }

  private IllegalStateException ended() {
    return new IllegalStateException("sequence " + id + " has had its last request");
  }

  /** From here on it has no more requests; what was sent is answered. */
  @Override
  public void close() {
    ended.set(true);
  }

  /** Model and id. */
  @Override
  public String toString() {
    return "Sequence[" + model.name() + ", " + id + "]";
  }
}
