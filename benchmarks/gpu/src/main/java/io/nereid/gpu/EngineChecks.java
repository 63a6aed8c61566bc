package io.nereid.gpu;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.gpu.Workbench.Plan;
import io.nereid.tensorrt.builder.BuiltEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Checks engines: that they are built from Java, from ONNX and by the command, and that what they
 * compute is right, held against double precision and against ONNX Runtime.
 */
final class EngineChecks {

  private EngineChecks() {}

  static void engines(Workbench bench, VerifyReport report) throws IOException {
    for (Plan plan :
        List.of(
            Plans.mlp(),
            Plans.convolutions(bench),
            Plans.half(bench),
            Plans.deep(),
            Plans.resNet())) {
      BuiltEngine engine = bench.build(plan, "");
      Graph graph = Plans.graph(plan.name());
      boolean right =
          engine.signature().inputs().size() == 1
              && engine.signature().outputs().size() == 1
              && engine.signature().outputs().getFirst().dims().getLast() == graph.outputElements()
              && engine.signature().maxBatchSize() > 1;
      report.verify(
          plan.name(), right, text(engine), "one input, one output, batches of several rows");
    }
    report.verify(
        "profiles of " + Plans.MLP,
        bench.built().get(Plans.MLP).profileCount() == 2,
        bench.built().get(Plans.MLP).profileCount() + " profiles",
        "2");
  }

  private static String text(BuiltEngine engine) {
    return String.format(
        Locale.ROOT,
        "%.1f s, %d layers, %.1f MiB, %s",
        engine.buildTime().toMillis() / 1e3,
        engine.layerCount(),
        engine.planBytes() / (double) (1 << 20),
        engine
            .latency()
            .map(latency -> String.format(Locale.ROOT, "%.3f ms", latency.toNanos() / 1e6))
            .orElse("time not measured"));
  }

  /** The command as a user gives it, in a process of its own. */
  static void command(Workbench bench, VerifyReport report) throws Exception {
    Path plan = bench.planFile("by_command");
    Nrd.Output output =
        Nrd.run(
            "build",
            Plans.onnxFile(bench).toString(),
            "-o",
            plan.toString(),
            Plans.TYPED ? "--no-tf32" : "--fp16",
            "--shapes",
            "data=1x3x32x32:8x3x32x32:16x3x32x32",
            "--timing-cache",
            bench.directory().resolve("command.cache").toString());
    report.verify(
        "nereid build",
        output.exitCode() == 0 && Files.exists(plan),
        "exit code " + output.exitCode() + ": " + output.lastLine(),
        "exit code 0 and a plan");
    Path config = plan.getParent().resolveSibling("config.pbtxt");
    boolean configured = Files.exists(config) && Files.readString(config).contains("scores");
    report.verify("config.pbtxt", configured, configured ? "written" : "not there", "written");
    Nrd.Output int8 =
        Nrd.run(
            "build",
            Plans.onnxFile(bench).toString(),
            "-o",
            bench.directory().resolve("never.plan").toString(),
            "--int8",
            "--shapes",
            "data=1x3x32x32");
    report.verify(
        "--int8 without Q/DQ nodes",
        int8.exitCode() == 1
            && int8.text().contains(Plans.TYPED ? "types that the ONNX file" : "QuantizeLinear"),
        "exit code " + int8.exitCode() + ": " + int8.lastLine(),
        "exit code 1 and what is missing");
  }

  /**
   * The largest difference, as part of the largest value: FP32 in full, over few layers, some of
   * them by Winograd.
   */
  private static final double FULL_BAR = 1e-4;

  /** FP16 has 11 bits; a few layers. */
  private static final double HALF_BAR = 1e-2;

  /** FP16 through 50 layers of random weights, whose errors add up more than trained ones' do. */
  private static final double DEEP_BAR = 5e-2;

  private static final String ON_PROCESSOR = "convolutions_cpu";

  static void numerics(Workbench bench, VerifyReport report) throws IOException {
    bench.build(Plans.mlp(), "");
    bench.build(Plans.convolutions(bench), "");
    bench.build(Plans.half(bench), "");
    onProcessor(bench);
    try (Nereid nereid = bench.serve(Plans.MLP, Plans.CONVOLUTIONS, Plans.HALF, ON_PROCESSOR)) {
      against(report, nereid.model(Plans.MLP), Plans.graph(Plans.MLP), 3, FULL_BAR);
      // Beyond the first profile.
      against(report, nereid.model(Plans.MLP), Plans.graph(Plans.MLP), 40, FULL_BAR);
      Graph graph = Plans.graph(Plans.CONVOLUTIONS);
      against(report, nereid.model(Plans.CONVOLUTIONS), graph, 1, FULL_BAR);
      against(report, nereid.model(Plans.CONVOLUTIONS), graph, 16, FULL_BAR);
      against(report, nereid.model(Plans.HALF), graph, 5, HALF_BAR);
      double[] row = Rows.random(graph, 5);
      float[] gpu = Rows.infer(nereid.model(Plans.CONVOLUTIONS), graph, row);
      float[] processor = Rows.infer(nereid.model(ON_PROCESSOR), graph, row);
      double error = Rows.error(gpu, 0, doubles(processor));
      report.verify("against ONNX Runtime, FP32", error <= FULL_BAR, text(error), most(FULL_BAR));
    }
  }

  static void resNet(Workbench bench, VerifyReport report) throws IOException {
    bench.build(Plans.resNet(), "");
    try (Nereid nereid = bench.serve(Plans.RESNET)) {
      against(report, nereid.model(Plans.RESNET), Plans.graph(Plans.RESNET), 2, DEEP_BAR);
    }
  }

  private static void against(VerifyReport report, Model model, Graph graph, int rows, double bar) {
    double[][] input = new double[rows][];
    for (int i = 0; i < rows; i++) {
      input[i] = Rows.random(graph, i);
    }
    float[] answer = Rows.infer(model, graph, input);
    double worst = 0;
    for (int i = 0; i < rows; i++) {
      worst = Math.max(worst, Rows.error(answer, i, GraphReference.evaluate(graph, input[i])));
    }
    report.verify(
        model.name() + ", " + rows + (rows == 1 ? " row" : " rows") + ", against FP64",
        worst <= bar,
        text(worst),
        most(bar));
  }

  /** The file of ONNX as a model of the processor. */
  private static void onProcessor(Workbench bench) throws IOException {
    Path directory = bench.repository().resolve(ON_PROCESSOR);
    Files.createDirectories(directory.resolve("1"));
    Files.writeString(
        directory.resolve("config.pbtxt"), "backend: \"onnxruntime\"\nmax_batch_size: 16\n");
    GraphOnnx.write(Plans.graph(Plans.CONVOLUTIONS), directory.resolve("1").resolve("model.onnx"));
  }

  private static double[] doubles(float[] values) {
    double[] doubles = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      doubles[i] = values[i];
    }
    return doubles;
  }

  private static String text(double error) {
    return String.format(Locale.ROOT, "error %.2g of the largest value", error);
  }

  private static String most(double bar) {
    return String.format(Locale.ROOT, "<= %.0e", bar);
  }
}
