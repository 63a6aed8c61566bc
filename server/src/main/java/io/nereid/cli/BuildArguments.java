package io.nereid.cli;

import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.Precision;
import io.nereid.tensorrt.builder.ShapeRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How an engine is built, on the command line. */
final class BuildArguments {

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
      description = "The most memory that a layer may use for itself, such as 4G; all by default.")
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

  /** Throws {@link ParameterException} for what does not go together. */
  BuildOptions options() {
    try {
      BuildOptions.Builder options = BuildOptions.builder();
      precisions(options);
      if (workspace != null) {
        options.workspaceBytes(ByteSize.parse("--workspace", workspace));
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
