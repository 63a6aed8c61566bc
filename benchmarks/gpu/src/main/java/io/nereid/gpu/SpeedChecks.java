package io.nereid.gpu;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensorrt.GraphStatistics;
import io.nereid.tensorrt.TensorRtBackend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Measures how fast it is, held against a bare loop on the same engine in the same run. */
final class SpeedChecks {

  private static final double IN_PROCESS_BAR = 0.97;
  private static final double GRPC_BAR = 0.90;
  private static final double GRAPHS_BAR = 2;

  /** Until the code of a server that was just started is compiled. */
  private static final String WARM_UP_MS = "10000";

  private static final String BATCHED =
      """
      dynamic_batching { preferred_batch_size: [ 32 ] max_queue_delay_microseconds: 2000 }
      instance_group { kind: KIND_GPU count: 2 }
      """;

  private SpeedChecks() {}

  /** ResNet-50 with dynamic batching. */
  static void resNet(Workbench bench, VerifyReport report) throws Exception {
    if (Workbench.isRehearsal()) {
      report.skip("how fast it is", "there is no GPU");
      return;
    }
    bench.build(Plans.resNet(), BATCHED);
    Bare before = bare(bench, report);
    String what = "in process, " + bench.inFlight() + " in flight";
    Rows.Throughput load;
    String text;
    try (Nereid nereid = bench.serve(Plans.RESNET)) {
      Model model = nereid.model(Plans.RESNET);
      load = Rows.load(model, Plans.graph(Plans.RESNET), bench.inFlight(), bench.seconds());
      long batches = Math.max(1, model.statistics().executionCount());
      double rows = model.statistics().inferenceCount() / (double) batches;
      text = load + String.format(Locale.ROOT, ", batches of %.1f", rows);
    }
    // The report gets this figure before more is measured.
    report.info(what, text);
    double bare = (before.rowsPerSecond() + again(bench, report, before.way())) / 2;
    held(report, what, load.rowsPerSecond(), bare, IN_PROCESS_BAR, text, load.errors());
    try (Nrd server = Nrd.serve(bench, Plans.RESNET)) {
      wire(bench, report, server, "grpc", bare, GRPC_BAR);
      wire(bench, report, server, "http", bare, 0);
    }
  }

  private record Bare(BareLoop.Way way, double rowsPerSecond) {}

  /** The best of what a bare loop does with copies, which the others have to do as well. */
  private static Bare bare(Workbench bench, VerifyReport report) throws IOException {
    Bare best = null;
    try (BareLoop loop = new BareLoop(bench.planFile(Plans.RESNET), Plans.graph(Plans.RESNET))) {
      for (BareLoop.Way way :
          List.of(
              new BareLoop.Way(8, 2, true, false),
              new BareLoop.Way(Plans.RESNET_ROWS, 2, true, false),
              new BareLoop.Way(Plans.RESNET_ROWS, 4, true, false),
              new BareLoop.Way(Plans.RESNET_ROWS, 2, false, false),
              new BareLoop.Way(Plans.RESNET_ROWS, 1, false, true))) {
        double rows = loop.rowsPerSecond(way, bench.seconds());
        report.info("bare loop, " + way, String.format(Locale.ROOT, "%.0f rows/s", rows));
        if (way.copies() && (best == null || rows > best.rowsPerSecond())) {
          best = new Bare(way, rows);
        }
      }
    }
    return best;
  }

  /** The same way once more: the best of several is a little luck, and clocks change meanwhile. */
  private static double again(Workbench bench, VerifyReport report, BareLoop.Way way)
      throws IOException {
    try (BareLoop loop = new BareLoop(bench.planFile(Plans.RESNET), Plans.graph(Plans.RESNET))) {
      double rows = loop.rowsPerSecond(way, bench.seconds());
      report.info("again, " + way, String.format(Locale.ROOT, "%.0f rows/s", rows));
      return rows;
    }
  }

  /** With a bar of 0 the number is only told. */
  private static void held(
      VerifyReport report,
      String what,
      double rows,
      double bare,
      double bar,
      String text,
      long errors) {
    String measured =
        String.format(Locale.ROOT, "%.1f %% of %.0f: %s", 100 * rows / bare, bare, text);
    if (bar == 0) {
      report.info(what, measured);
    } else {
      report.verify(
          what,
          rows >= bar * bare && errors == 0,
          measured,
          String.format(Locale.ROOT, ">= %.0f %% of the bare loop's mean", 100 * bar));
    }
  }

  /** The load generator in a process of its own, as users run it. */
  private static void wire(
      Workbench bench, VerifyReport report, Nrd server, String protocol, double bare, double bar)
      throws Exception {
    Path json = bench.directory().resolve(protocol + ".json");
    List<String> arguments = new ArrayList<>(List.of("perf", Plans.RESNET, "-i", protocol, "-u"));
    arguments.add(protocol.equals("grpc") ? server.grpc() : server.http());
    arguments.addAll(
        List.of(
            "--concurrency",
            Integer.toString(bench.inFlight()),
            "--warm-up",
            WARM_UP_MS,
            "-p",
            Long.toString(Math.max(500, (long) (bench.seconds() * 1000 / 3))),
            "-r",
            "6",
            "-q",
            "--json",
            json.toString()));
    Nrd.Output output = Nrd.run(arguments.toArray(String[]::new));
    if (output.exitCode() != 0 || !Files.exists(json)) {
      report.fail(protocol, "exit code " + output.exitCode() + ": " + output.lastLine(), "0");
      return;
    }
    List<?> results = (List<?>) JSON.std.mapFrom(json.toFile()).get("results");
    Map<?, ?> result = (Map<?, ?>) results.getLast();
    double rows = number(result, "rows_per_s");
    held(
        report,
        protocol + ", " + bench.inFlight() + " in flight",
        rows,
        bare,
        bar,
        String.format(
            Locale.ROOT,
            "%.0f rows/s, p50 %.2f ms, p99 %.2f ms, batches of %.1f",
            rows,
            number(result, "latency_p50_us") / 1e3,
            number(result, "latency_p99_us") / 1e3,
            number(result, "server_batch_size")),
        (long) number(result, "errors"));
  }

  private static double number(Map<?, ?> fields, String name) {
    return fields.get(name) instanceof Number number ? number.doubleValue() : Double.NaN;
  }

  /** A network of many small layers, with CUDA graphs and without. */
  static void graphs(Workbench bench, VerifyReport report) throws Exception {
    int layers = bench.build(Plans.deep(), served(false)).layerCount();
    Graph graph = Plans.graph(Plans.DEEP);
    bench.alias("mlp_deep_graphs", Plans.DEEP, served(true));
    try (BareLoop loop = new BareLoop(bench.planFile(Plans.DEEP), graph)) {
      double plain =
          loop.rowsPerSecond(new BareLoop.Way(Plans.DEEP_ROWS, 4, true, false), bench.seconds());
      double graphs =
          loop.rowsPerSecond(new BareLoop.Way(Plans.DEEP_ROWS, 4, true, true), bench.seconds());
      report.verifySpeed(
          "graphs, bare loop, 4 contexts",
          graphs >= GRAPHS_BAR * plain,
          times(plain, graphs) + "; the engine has " + layers + " layers",
          ">= 2 times the plain enqueue");
    }
    try (Nereid nereid = bench.serve(Plans.DEEP, "mlp_deep_graphs")) {
      Model captured = nereid.model("mlp_deep_graphs");
      double[] row = Rows.random(graph, 1);
      float[] plainAnswer = Rows.infer(nereid.model(Plans.DEEP), graph, row);
      float[] answer = new float[0];
      for (int i = 0; i < 4; i++) { // captured on the way, then replayed
        answer = Rows.infer(captured, graph, row);
      }
      boolean same = Arrays.equals(plainAnswer, answer);
      report.verify("answers with graphs", same, same ? "equal" : "they differ", "equal bits");
      Rows.Throughput plain =
          Rows.load(nereid.model(Plans.DEEP), graph, bench.inFlight(), bench.seconds());
      Rows.Throughput graphs = Rows.load(captured, graph, bench.inFlight(), bench.seconds());
      GraphStatistics counted =
          TensorRtBackend.graphStatistics(captured.name(), captured.version());
      report.verify(
          "batches by graphs",
          counted.hits() > 10 * counted.misses(),
          counted.hits() + " by " + counted.graphs() + ", " + counted.misses() + " without",
          "more than ten times as many as without");
      report.info("in process, plain", plain.toString());
      report.info("in process, graphs", graphs.toString());
      // No bar: what a request costs beside its execution stays the same.
      report.info("graphs, in process", times(plain.rowsPerSecond(), graphs.rowsPerSecond()));
    }
  }

  private static String served(boolean graphs) {
    return """
    dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 500 }
    instance_group { kind: KIND_GPU count: 4 }
    optimization { cuda { graphs: %s } }
    """
        .formatted(graphs);
  }

  private static String times(double plain, double graphs) {
    return String.format(
        Locale.ROOT, "%.2f times: %.0f, plain %.0f rows/s", graphs / plain, graphs, plain);
  }
}
