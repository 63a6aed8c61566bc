package io.nereid.perf;

import io.nereid.perf.RequestPlan.TensorForm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * One level of load against one model over HTTP, for a program that starts and watches it: binary
 * tensors, no windows and no search. Whoever starts it looks at it, and ends it; one thread at a
 * time.
 */
public final class LoadTest implements AutoCloseable {

  /**
   * Says what is sent.
   *
   * @param url the server, such as {@code http://localhost:8000}
   * @param headers sent with every request, by lower-case names
   * @param version of the model; empty: what the server chooses
   * @param data {@code random}, or a file or directory as {@code perf --input-data} takes it
   * @param concurrency requests under way in a closed loop; 0: an open loop
   * @param ratePerSecond of an open loop
   * @param poisson whether its gaps are random
   * @param mostOutstanding requests under way in an open loop, at most
   */
  public record Plan(
      String url,
      Map<String, String> headers,
      String model,
      String version,
      String data,
      int batchSize,
      int concurrency,
      double ratePerSecond,
      boolean poisson,
      int mostOutstanding) {}

  /**
   * What came of it. Latencies of an open loop count from when a request was due; all are 0 when
   * nothing was answered.
   */
  public record Figures(
      long requests,
      long errors,
      double meanUs,
      double p50Us,
      double p90Us,
      double p95Us,
      double p99Us,
      double maxUs) {

    private static Figures of(Tally.Counts counts) {
      Histogram latency = counts.latency();
      return new Figures(
          latency.getTotalCount(),
          counts.errorCount(),
          latency.getMean() / 1e3,
          latency.getValueAtPercentile(50) / 1e3,
          latency.getValueAtPercentile(90) / 1e3,
          latency.getValueAtPercentile(95) / 1e3,
          latency.getValueAtPercentile(99) / 1e3,
          latency.getMaxValue() / 1e3);
    }
  }

  private static final long SEED = 1;

  private final LoadRun run;
  private final Tally.Counts all = new Tally.Counts();

  private LoadTest(LoadRun run) {
    this.run = run;
  }

  /** Asks the server about the model, and begins; fails with what keeps it from that. */
  public static LoadTest start(Plan plan) throws IOException {
    try {
      Target target =
          Target.of(
              plan.url, Target.Protocol.HTTP, false, null, plan.headers, plan.model, plan.version);
      ModelInfo model = model(target);
      InputData data = InputData.read(model, shapes(model, plan.batchSize), options(plan.data));
      RequestPlan requests =
          new RequestPlan(
              target, model, TensorForm.BINARY, TensorForm.BINARY, Map.of(), false, false, false);
      Requests encoded = Requests.of(requests, data, null, null);
      LoadLevel level =
          plan.concurrency > 0
              ? LoadLevel.closed(plan.concurrency)
              : LoadLevel.open(plan.ratePerSecond, plan.poisson, plan.mostOutstanding);
      HttpSenders senders = new HttpSenders(target, encoded, null, 1);
      return new LoadTest(LoadRun.start(senders, encoded, level, SEED));
    } catch (PerfException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static ModelInfo model(Target target) {
    try (ServerControl control = new ServerControl(target)) {
      ModelInfo model = control.model();
      if (model.decoupled()) {
        throw new PerfException(
            "model '" + model.name() + "' is decoupled: measure it over gRPC, with nereid perf");
      }
      return model;
    }
  }

  /** Dimensions of any size are 1: nobody can be asked. */
  private static InputShapes shapes(ModelInfo model, int batchSize) {
    Map<String, List<Long>> shapes = new HashMap<>();
    for (ModelInfo.TensorInfo input : model.inputs()) {
      List<Long> shape = new ArrayList<>(input.shape());
      shape.replaceAll(dim -> dim < 0 ? 1 : dim);
      if (model.batched() && !shape.isEmpty()) {
        shape.set(0, (long) batchSize);
      }
      shapes.put(input.name(), shape);
    }
    return new InputShapes(shapes, batchSize);
  }

  private static InputData.Options options(String data) {
    return new InputData.Options(
        data, Map.of(), new InputData.Generated(false, 0, 1, null, 16), SEED, 1);
  }

  /** What happened since the last call. */
  public Figures next() {
    Tally.Counts counts = run.drain();
    all.add(counts);
    return Figures.of(counts);
  }

  /** What happened from the begin to the last call of {@link #next}. */
  public Figures total() {
    return Figures.of(all);
  }

  /** Why the first request failed that did. */
  public Optional<String> firstError() {
    return Optional.ofNullable(run.firstError());
  }

  /** Sends nothing more, and waits a while for what is under way. */
  @Override
  public void close() {
    run.close();
  }
}
