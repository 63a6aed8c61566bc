package io.nereid.recording;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.RequestObserver.Observation;
import io.nereid.model.SentRequest;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives a version of a model that is loaded as a shadow ({@link Model#shadowOf}) copies of the
 * answered requests to its primary, compares the answers, and throws them away. The thread that
 * completes a request copies it with its outputs into memory that is bounded, and never waits; what
 * finds no room, or too many copies before it, is dropped and counted. A thread of the shadow's
 * sends one copy at a time. Any thread may call.
 */
public final class Shadow implements AutoCloseable {

  /** So many wait at most: what is older says little more, and copying costs the primary time. */
  private static final int MOST_WAITING = 32;

  /** Waking up costs more than letting a copy wait for so long. */
  private static final long SLEEP_NS = 4_000_000;

  private final Model model;
  private final long primary;
  private final ShadowOptions options;
  private final MessageRing ring;
  private final RequestCopies copies;
  private final AnswerComparison comparison;
  private final LongAdder dropped = new LongAdder();
  private final AtomicInteger waiting = new AtomicInteger(); // copies in the ring, about
  private final Thread thread;
  private final Runnable observation; // ends it
  private volatile String failure = "";
  private volatile boolean stopping;

  /**
   * The verdict so far.
   *
   * @param primary the version that the shadow is compared with
   * @param compared requests that both versions answered, or only the primary did
   * @param differing those whose answers are further apart than the tolerances allow
   * @param failed those that only the primary answered
   * @param dropped requests that should have been compared, and were not: there was no time or room
   * @param failure the last of those failures in words; empty: there was none
   * @param outputs the distance of the answers, by output
   */
  public record Verdict(
      long primary,
      long compared,
      long differing,
      long failed,
      long dropped,
      String failure,
      List<OutputFigures> outputs) {}

  private Shadow(Nereid nereid, Model model, long primary, ShadowOptions options) {
    this.model = model;
    this.primary = primary;
    this.options = options;
    ring = new MessageRing(options.memoryBytes());
    copies = new RequestCopies(ring, Set.of(), true, System.nanoTime(), dropped);
    comparison = new AnswerComparison(options.tolerances(), Map.of());
    thread = Thread.ofPlatform().daemon().name("nrd-shadow").start(this::run);
    observation = nereid.observeRequests(this::begin);
  }

  /**
   * Begins to compare.
   *
   * @param model a version that is loaded as a shadow
   * @throws NereidException with {@link StatusCode#FAILED_PRECONDITION} where it is none, or has a
   *     name that other repositories may have, too
   */
  public static Shadow start(Nereid nereid, Model model, ShadowOptions options) {
    long primary =
        model
            .shadowOf()
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.FAILED_PRECONDITION,
                    "expected a model that is loaded as a shadow (shadow_of), got " + model));
    if (!model.namespace().isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "expected a model outside name spaces, whose requests are known by its name, got "
              + model.namespace()
              + "/"
              + model.name());
    }
    return new Shadow(nereid, model, primary, options);
  }

  /** The shadow. */
  public Model model() {
    return model;
  }

  /** The verdict so far. */
  public Verdict verdict() {
    return new Verdict(
        primary,
        comparison.requests(),
        comparison.differing(),
        comparison.failed(),
        dropped.sum(),
        failure,
        comparison.figures());
  }

  /** Compares no more; the verdict stays. Closing twice does nothing. */
  @Override
  public synchronized void close() {
    if (stopping) {
      return;
    }
    observation.run();
    stopping = true;
    thread.interrupt(); // which gives up on a request that is under way
    copies.closeAfter(thread);
  }

  /** Has requests to the primary copied that are answered. */
  private Observation begin(SentRequest request) {
    ModelSpec spec = request.model();
    if (spec.version() != primary
        || !spec.name().equals(model.name())
        || (options.share() < 1 && ThreadLocalRandom.current().nextDouble() >= options.share())) {
      return null;
    }
    if (waiting.get() >= MOST_WAITING) {
      dropped.increment();
      return null;
    }
    long sentNs = System.nanoTime();
    return outcome -> {
      if (outcome.status() == StatusCode.OK && copies.add(request, outcome, sentNs)) {
        waiting.incrementAndGet();
      }
    };
  }

  // ---- The shadow's thread ---------------------------------------------------------------------

  private void run() {
    while (!stopping) {
      MemorySegment message = ring.peek();
      if (message == null) {
        LockSupport.parkNanos(SLEEP_NS);
        continue;
      }
      try {
        compare(read(message));
      } catch (IOException | RuntimeException e) { // of a copy that is not as it should be
        System.getLogger("io.nereid.recording")
            .log(System.Logger.Level.WARNING, "a request was not compared: " + model, e);
        dropped.increment();
      }
      ring.release();
      waiting.decrementAndGet();
    }
  }

  /** A request whose tensors lie in the ring. */
  private static RecordedCall read(MemorySegment message) throws IOException {
    List<ByteBuffer> contents = new ArrayList<>();
    MemorySegment body =
        TensorHead.numbered(
            message,
            content -> {
              contents.add(content.asByteBuffer());
              return contents.size() - 1;
            });
    ByteBuffer bytes = body.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    bytes.get(); // the type
    return new RequestReader(0, 0, number -> () -> contents.get(number)).read(bytes);
  }

  private void compare(RecordedCall call) {
    if (!areThere(call.inputs()) || !areThere(call.outputs())) {
      dropped.increment(); // tensors on a GPU are not copied
      return;
    }
    try (InferRequest request = RuntimeAnswers.request(model, call);
        InferResponse response = request.infer()) {
      comparison.add(model.name(), call.id(), call.answers(), RuntimeAnswers.outputs(response));
    } catch (NereidException e) {
      switch (e.code()) {
        // There is no room or no time for it, or nobody who answers.
        case RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, UNAVAILABLE, CANCELLED -> dropped.increment();
        default -> {
          failure = e.code() + ": " + e.getMessage();
          comparison.addFailure(model.name(), call.id(), "OK", failure);
        }
      }
    }
  }

  private static boolean areThere(List<RecordedTensor> tensors) {
    return tensors.stream().allMatch(tensor -> tensor.presence() == RecordedTensor.Presence.THERE);
  }
}
