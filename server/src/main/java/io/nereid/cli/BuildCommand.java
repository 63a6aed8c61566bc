package io.nereid.cli;

import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuiltEngine;
import io.nereid.tensorrt.builder.ConfigText;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.OnnxFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Builds a TensorRT plan from an ONNX file. */
@Command(
    name = "build",
    description = "Build a TensorRT plan for this machine's GPU from an ONNX file.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "NEREID_TENSORRT_DIR names the directories of NVIDIA's libraries. A plan runs on",
      "GPUs and versions of TensorRT like those that built it.",
      "",
      "Examples:",
      "  nereid build resnet.onnx -o models/resnet/1/model.plan --fp16 \\",
      "    --shapes data=1x3x224x224:8x3x224x224:32x3x224x224",
      "  nereid build bert.onnx -o models/bert/1/model.plan --best \\",
      "    --timing-cache bert.cache \\",
      "    --shapes ids=1x16:8x64:32x128,mask=1x16:8x64:32x128"
    })
final class BuildCommand implements Callable<Integer> {

  @Spec private CommandSpec command;

  @Parameters(paramLabel = "MODEL", description = "The ONNX file.")
  private Path model;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "PLAN",
      description = {
        "The plan to write. In a version's directory, as REPOSITORY/NAME/1/model.plan,",
        "the model gets a config.pbtxt as well, unless it has one."
      })
  private Path plan;

  @Mixin private BuildArguments build;

  @Option(names = "--no-config", description = "Write no config.pbtxt.")
  private boolean noConfig;

  @Option(
      names = {"-q", "--quiet"},
      description = "Show no progress.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    BuildOptions options = build.options();
    if (Files.isDirectory(plan)) {
      throw new ParameterException(
          command.commandLine(),
          "expected a file to write for --output, got the directory " + plan);
    }
    OnnxFile source = new OnnxFile(model);
    BuiltEngine engine;
    try (BuildBar bar = new BuildBar(quiet)) {
      engine = EngineBuilder.build(source, options, plan, bar);
    }
    print(engine);
    writeConfig(engine);
    return 0;
  }

  private void print(BuiltEngine engine) {
    PrintWriter out = command.commandLine().getOut();
    out.printf(
        Locale.ROOT,
        "Built %s in %.1f s: %d layers, %s, for %s (%s) with TensorRT %s%n",
        plan,
        engine.buildTime().toMillis() / 1e3,
        engine.layerCount(),
        ByteSize.text(engine.planBytes()),
        engine.device().name(),
        engine.device().computeCapability(),
        engine.version());
    Table tensors = new Table("TENSOR", "", "TYPE", "SHAPE");
    engine.signature().inputs().forEach(input -> add(tensors, "input", input));
    engine.signature().outputs().forEach(output -> add(tensors, "output", output));
    tensors.print(out);
    out.println(execution(engine));
    out.flush();
  }

  /** What it takes to run it. */
  static String execution(BuiltEngine engine) {
    String time =
        engine
            .latency()
            .map(latency ->
                String.format(
                    Locale.ROOT,
                    "%.3f ms (median, the first profile's best shapes, without copies)",
                    latency.toNanos() / 1e6))
            .orElse("a time that was not measured");
    return String.format(
        Locale.ROOT,
        "%d profile%s, %s; an execution takes %s and %s of memory",
        engine.profileCount(),
        engine.profileCount() == 1 ? "" : "s",
        engine.signature().maxBatchSize() == 0
            ? "no batch dimension"
            : "batches up to " + engine.signature().maxBatchSize(),
        time,
        ByteSize.text(engine.contextBytes()));
  }

  private static void add(Table table, String kind, TensorSpec spec) {
    table.add(spec.name(), kind, spec.dataType().name(), spec.dims().toString());
  }

  private void writeConfig(BuiltEngine engine) throws IOException {
    Optional<Path> directory = noConfig ? Optional.empty() : modelDirectory(plan);
    if (directory.isEmpty()) {
      return;
    }
    PrintWriter out = command.commandLine().getOut();
    Path config = directory.get().resolve("config.pbtxt");
    if (Files.exists(config)) {
      out.println("Left " + config + " as it is");
    } else {
      String name = directory.get().getFileName().toString();
      Files.writeString(config, ConfigText.of(name, engine.signature()));
      out.println("Wrote " + config);
    }
    out.flush();
  }

  /** Where a model's configuration belongs whose plan is in the directory of a version. */
  static Optional<Path> modelDirectory(Path plan) {
    Path version = plan.toAbsolutePath().normalize().getParent();
    boolean numbered =
        version.getFileName() != null && version.getFileName().toString().matches("[0-9]+");
    return Optional.ofNullable(version.getParent())
        .filter(directory -> numbered && directory.getFileName() != null);
  }
}
