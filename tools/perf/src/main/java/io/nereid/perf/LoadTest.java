package io.nereid.perf;

import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.perf.Target.Protocol;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/**
 * Loads one model in a closed loop, for a program that reads the figures, without windows or a
 * search: over HTTP with binary tensors, or in this process. One thread at a time starts it, reads
 * its figures and closes it.
 */
public final class LoadTest implements AutoCloseable {

  /**
   * The figures of the answers in a period.
   *
   * @param requests that were answered
   * @param meanUs the mean latency of the answers that are no errors; 0 if there are none
   * @param p99Us the latency that one in a hundred of them exceeds
   * @param elapsed the length of the period
   */
  public record Figures(
      long requests, long errors, double meanUs, double p99Us, Duration elapsed) {}

  private static final long SEED = 1;

  private final LoadRun run;
  private long sinceNs = System.nanoTime();

  private LoadTest(LoadRun run) {
    this.run = run;
  }

  /**
   * Begins to send.
   *
   * @param url the server, such as {@code http://localhost:8000}
   * @param data {@code random}, or a file or directory as {@code perf --input-data} takes it
   * @param concurrency requests under way
   * @throws IOException if the server does not tell about the model, or does not take its requests
   */
  public static LoadTest start(String url, String model, String data, int concurrency)
      throws IOException {
    return start(url, model, data, List.of(), concurrency);
  }

  /**
   * Does the same with shapes of inputs, such as {@code IN:224,224,3}. An input without one has the
   * model's, with 1 for each dimension of any size.
   */
  public static LoadTest start(
      String url, String model, String data, List<String> given, int concurrency)
      throws IOException {
    try {
      Target target = Target.of(url, Protocol.HTTP, false, null, Map.of(), model, "");
      ModelInfo described;
      try (ServerControl control = new ServerControl(target)) {
        described = control.model();
      }
      if (described.decoupled()) {
        throw new PerfException("model '" + model + "' is decoupled, which HTTP does not carry");
      }
      RequestPlan plan =
          new RequestPlan(
              target,
              described,
              TensorForm.BINARY,
              TensorForm.BINARY,
              Map.of(),
              "",
              false,
              false,
              false);
      InputData inputs = InputData.read(described, shapes(described, given), options(data));
      Requests requests = Requests.of(plan, inputs, null, null);
      HttpSenders senders = new HttpSenders(target, requests::position, null, 1);
      return new LoadTest(LoadRun.start(senders, requests, LoadLevel.closed(concurrency), SEED));
    } catch (PerfException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /**
   * Begins to send to a runtime of this process.
   *
   * @param callers makes an action that sends a request and returns before the answer; the consumer
   *     takes each answer's failure, or null, on any thread
   */
  public static LoadTest start(int concurrency, Function<Consumer<Throwable>, Runnable> callers) {
    DirectSender.Senders senders = new DirectSender.Senders(one -> callers.apply(one::ended));
    try {
      return new LoadTest(
          LoadRun.start(senders, Requests.none(), LoadLevel.closed(concurrency), SEED));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // nothing is connected
    }
  }

  /** Throws if a shape is not in the form that {@link #start} takes. */
  public static void checkShapes(List<String> given) {
    DataArguments.shapes(given);
  }

  /** Completes shapes with one row for the batch, and 1 for each other dimension of any size. */
  private static InputShapes shapes(ModelInfo model, List<String> given) {
    Map<String, List<Long>> shapes = new HashMap<>();
    for (ModelInfo.TensorInfo input : model.inputs()) {
      List<Long> shape = new ArrayList<>(input.shape());
      shape.replaceAll(dim -> dim < 0 ? 1 : dim);
      if (model.batched() && !shape.isEmpty()) {
        shape.set(0, 1L);
      }
      shapes.put(input.name(), shape);
    }
    shapes.putAll(DataArguments.shapes(given));
    return new InputShapes(shapes, 1);
  }

  private static InputData.Options options(String data) {
    return new InputData.Options(
        data, Map.of(), new InputData.Generated(false, 0, 1, null, 16), SEED, 1);
  }

  /** Returns the figures since the last call. */
  public Figures next() {
    Tally.Counts counts = run.drain();
    Histogram latency = counts.latency();
    long beginNs = sinceNs;
    sinceNs = System.nanoTime();
    return new Figures(
        latency.getTotalCount(),
        counts.errorCount(),
        latency.getMean() / 1e3,
        latency.getValueAtPercentile(99) / 1e3,
        Duration.ofNanos(sinceNs - beginNs));
  }

  /** The reason of the first failure. */
  public Optional<String> firstError() {
    return Optional.ofNullable(run.firstError());
  }

  /** The number of requests that were sent and not answered. */
  public long outstanding() {
    return run.outstanding();
  }

  /** Sends no more requests, and waits a while for those under way. */
  @Override
  public void close() {
    run.close();
  }
}
