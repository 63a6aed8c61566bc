package io.nereid.cli;

import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuiltEngine;
import io.nereid.tensorrt.builder.ConfigText;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.OnnxFile;
import io.nereid.tensorrt.builder.Precision;
import io.nereid.tensorrt.builder.ShapeRange;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid build}: builds a TensorRT plan from an ONNX file. */
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

  private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})([KMGT]?)(I?B)?");

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
      throw Arguments.wrong(command, "a file to write for --output", "the directory " + plan);
    }
    OnnxFile source = new OnnxFile(model);
    BuiltEngine engine;
    try (TerminalBar.OfBuild bar = new TerminalBar.OfBuild(quiet)) {
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
        mib(engine.planBytes()),
        engine.device().name(),
        engine.device().computeCapability(),
        engine.version());
    Texts.Table tensors = new Texts.Table("TENSOR", "", "TYPE", "SHAPE");
    engine.signature().inputs().forEach(input -> add(tensors, "input", input));
    engine.signature().outputs().forEach(output -> add(tensors, "output", output));
    tensors.print(out);
    out.println(execution(engine));
    out.flush();
  }

  /** The memory and time of an execution, in words. */
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
        mib(engine.contextBytes()));
  }

  private static void add(Texts.Table table, String kind, TensorSpec spec) {
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

  /** The directory for the configuration, if the plan is in a version's directory of a model. */
  static Optional<Path> modelDirectory(Path plan) {
    Path version = plan.toAbsolutePath().normalize().getParent();
    boolean numbered =
        version.getFileName() != null && version.getFileName().toString().matches("[0-9]+");
    return Optional.ofNullable(version.getParent())
        .filter(directory -> numbered && directory.getFileName() != null);
  }

  /**
   * Parses bytes, or with K, M, G or T multiples by powers of 1024, such as {@code 4G} and {@code
   * 512MiB}.
   */
  static long bytes(String option, String text) {
    Matcher matcher = SIZE.matcher(text.toUpperCase(Locale.ROOT));
    if (matcher.matches()) {
      int shift = 10 * " KMGT".indexOf((matcher.group(2) + " ").charAt(0));
      long number = Long.parseLong(matcher.group(1));
      if (number <= Long.MAX_VALUE >> shift) {
        return number << shift;
      }
    }
    throw new IllegalArgumentException(
        "expected " + option + " in bytes or with K, M, G or T, such as 4G, got '" + text + "'");
  }

  /** Formats bytes in MiB with one digit behind the point. */
  private static String mib(long bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
  }

  /** The flags for building an engine. */
  static final class BuildArguments {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--fp16", description = "Allow half precision.")
    private boolean fp16;

    @Option(names = "--bf16", description = "Allow brain floating point.")
    private boolean bf16;

    @Option(
        names = "--int8",
        description = "Allow 8-bit integers; the model needs nodes that quantize (Q/DQ).")
    private boolean int8;

    @Option(
        names = "--fp8",
        description = "Allow 8-bit floating point; the model needs nodes that quantize (Q/DQ).")
    private boolean fp8;

    @Option(
        names = "--best",
        description = "Allow all that this GPU has and the model has nodes for.")
    private boolean best;

    @Option(
        names = "--strongly-typed",
        description = "Compute with the model's own types, and no others.")
    private boolean stronglyTyped;

    @Option(names = "--no-tf32", description = "Compute FP32 in full, not rounded to TF32.")
    private boolean noTf32;

    @Option(
        names = "--shapes",
        split = ",",
        paramLabel = "INPUT=MIN:OPT:MAX",
        description = {
          "The shapes of an input, all dimensions with x between them:",
          "data=1x3x224x224:8x3x224x224:32x3x224x224. Repeatable; an input that is",
          "named again begins the next optimization profile."
        })
    private List<String> shapes = new ArrayList<>();

    @Option(
        names = "--workspace",
        paramLabel = "SIZE",
        description =
            "The most memory that a layer may use for itself, such as 4G; all by default.")
    private String workspace;

    @Option(
        names = "--timing-cache",
        paramLabel = "FILE",
        description = "Measurements of earlier builds: read, added to, made if need be.")
    private Path timingCache;

    @Option(
        names = "--optimization-level",
        paramLabel = "0-5",
        description = "How long to look for the fastest; TensorRT's default is 3.")
    private Integer level;

    @Option(
        names = "--version-compatible",
        description = "Let later versions of TensorRT 10 load the plan.")
    private boolean versionCompatible;

    @Option(
        names = "--hardware-compatible",
        description = "Let other GPUs load the plan, from compute capability 8.0 on.")
    private boolean hardwareCompatible;

    @Option(
        names = "--weight-streaming",
        description = "Let weights stay in host memory; needs --strongly-typed.")
    private boolean weightStreaming;

    @Option(names = "--sparse", description = "Use sparsity of weights where it is.")
    private boolean sparse;

    @Option(names = "--refit", description = "Let weights be replaced later.")
    private boolean refit;

    @Option(
        names = "--strip",
        description = "Leave the weights out, for model.onnx or model.safetensors beside the plan.")
    private boolean strip;

    @Option(
        names = "--plugin",
        paramLabel = "FILE",
        description = "A library with plugins that the model needs; who serves it names it, too.")
    private List<Path> plugins = new ArrayList<>();

    @Option(
        names = "--aux-streams",
        paramLabel = "N",
        description = "The most streams beside its own that an execution may use.")
    private Integer auxiliaryStreams;

    @Option(
        names = "--device",
        paramLabel = "N",
        defaultValue = "0",
        description = "The GPU to build on, and for; ${DEFAULT-VALUE} by default.")
    private int device;

    /** Makes the options; throws {@link ParameterException} for conflicts. */
    BuildOptions options() {
      try {
        BuildOptions.Builder options = BuildOptions.builder();
        precisions(options);
        if (workspace != null) {
          options.workspaceBytes(bytes("--workspace", workspace));
        }
        if (timingCache != null) {
          options.timingCache(timingCache);
        }
        if (level != null) {
          options.optimizationLevel(level);
        }
        if (auxiliaryStreams != null) {
          options.auxiliaryStreams(auxiliaryStreams);
        }
        return options
            .tf32(!noTf32)
            .profiles(ShapeRange.profiles(shapes.stream().map(ShapeRange::parse).toList()))
            .versionCompatible(versionCompatible)
            .hardwareCompatible(hardwareCompatible)
            .weightStreaming(weightStreaming)
            .sparse(sparse)
            .refittable(refit)
            .stripped(strip)
            .plugins(plugins)
            .device(device)
            .build();
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new ParameterException(command.commandLine(), e.getMessage(), e);
      }
    }

    private void precisions(BuildOptions.Builder options) {
      if (fp16) {
        options.precision(Precision.FP16);
      }
      if (bf16) {
        options.precision(Precision.BF16);
      }
      if (int8) {
        options.precision(Precision.INT8);
      }
      if (fp8) {
        options.precision(Precision.FP8);
      }
      options.best(best).stronglyTyped(stronglyTyped);
    }
  }
}
