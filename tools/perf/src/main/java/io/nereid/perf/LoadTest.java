package io.nereid.perf;

import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.perf.Target.Protocol;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * One level of load against one model, for a program that starts and watches it: binary tensors, no
 * windows and no search. Whoever starts it looks at it, and ends it; one thread at a time.
 */
public final class LoadTest implements AutoCloseable {

  /**
   * Says what is sent.
   *
   * @param url the server, such as {@code http://localhost:8000} or {@code grpcs://localhost:8001}
   * @param certificate the file of its certificate, which is the one that is trusted; empty: those
   *     that the JVM trusts
   * @param headers sent with every request, by lower-case names
   * @param model what is known of the model
   * @param version of the model; empty: what the server chooses
   * @param data {@code random}, or a file or directory as {@code perf --input-data} takes it
   * @param concurrency requests under way in a closed loop; 0: an open loop
   * @param ratePerSecond of an open loop
   * @param poisson whether its gaps are random
   * @param mostOutstanding requests under way in an open loop, at most
   */
  public record Plan(
      String url,
      Optional<Path> certificate,
      Map<String, String> headers,
      ModelInfo model,
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
  private static final int GRPC_CONNECTIONS = 4;

  private final LoadRun run;
  private final Tally.Counts all = new Tally.Counts();

  private LoadTest(LoadRun run) {
    this.run = run;
  }

  /**
   * Begins; fails with what keeps it from that. A decoupled model is asked over streams of gRPC,
   * and not at all over HTTP.
   */
  public static LoadTest start(Plan plan) throws IOException {
    try {
      ModelInfo model = plan.model;
      Target target = target(plan);
      InputData data = InputData.read(model, shapes(model, plan.batchSize), options(plan.data));
      RequestPlan requests =
          new RequestPlan(
              target,
              model,
              TensorForm.BINARY,
              TensorForm.BINARY,
              Map.of(),
              false,
              false,
              model.decoupled());
      Requests encoded = Requests.of(requests, data, null, null);
      LoadLevel level =
          plan.concurrency > 0
              ? LoadLevel.closed(plan.concurrency)
              : LoadLevel.open(plan.ratePerSecond, plan.poisson, plan.mostOutstanding);
      int connections = Math.min(GRPC_CONNECTIONS, level.mostSenders());
      LoadRun.Senders senders =
          target.protocol() == Protocol.HTTP
              ? new HttpSenders(target, encoded, null, 1)
              : new GrpcSenders(requests, encoded, null, 1, connections);
      return new LoadTest(LoadRun.start(senders, encoded, level, SEED));
    } catch (PerfException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static Target target(Plan plan) {
    TlsFiles files =
        plan.certificate
            .map(TlsFiles::pinning)
            .orElse(
                new TlsFiles(
                    Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()));
    Target target =
        Target.of(plan.url, null, false, files, plan.headers, plan.model.name(), plan.version);
    if (plan.model.decoupled() && target.protocol() == Protocol.HTTP) {
      throw new PerfException(
          "model '" + plan.model.name() + "' is decoupled: measure it over gRPC");
    }
    return target;
  }

  /** What a server tells over HTTP of a model, for {@link Plan}. */
  public static ModelInfo model(String url, String model) throws IOException {
    Target target = Target.of(url, Protocol.HTTP, false, null, Map.of(), model, "");
    try (ServerControl control = new ServerControl(target)) {
      return control.model();
    } catch (PerfException e) {
      throw new IOException(e.getMessage(), e);
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
