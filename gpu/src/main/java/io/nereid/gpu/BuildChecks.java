package io.nereid.gpu;

import io.nereid.gpu.Workbench.Plan;
import io.nereid.tensorrt.builder.BuiltEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Engines are built: from Java, from ONNX, and by the command. */
final class BuildChecks {

  private BuildChecks() {}

  static void engines(Workbench bench, Report report) throws IOException {
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
  static void command(Workbench bench, Report report) throws Exception {
    Path plan = bench.planFile("by_command");
    Nrd.Output output =
        Nrd.run(
            "build",
            Plans.onnxFile(bench).toString(),
            "-o",
            plan.toString(),
            "--fp16",
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
        int8.exitCode() == 1 && int8.text().contains("QuantizeLinear"),
        "exit code " + int8.exitCode() + ": " + int8.lastLine(),
        "exit code 1 and what is missing");
  }
}
