package io.nereid.benchmarks;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes the models that the benchmarks run. */
public final class BenchmarkModels {

  /** The input of the identity models. */
  public static final String INPUT = "INPUT0";

  /** Their output. */
  public static final String OUTPUT = "OUTPUT0";

  private BenchmarkModels() {}

  /** The core's identity on FP32 tensors with a batch dimension. */
  public static ModelSpec.Builder identity(int maxBatchSize, long... dims) {
    return ModelSpec.builder("identity")
        .backend("identity")
        .maxBatchSize(maxBatchSize)
        .input(INPUT, DataType.FP32, dims)
        .output(OUTPUT, DataType.FP32, dims);
  }

  /** The core's identity on a row of FP32 of any length, as "any". */
  public static ModelSpec anyIdentity() {
    return ModelSpec.builder("any")
        .backend("identity")
        .input(INPUT, DataType.FP32, -1, -1)
        .output(OUTPUT, DataType.FP32, -1, -1)
        .build();
  }

  /** The bundled classifier of handwritten digits, on ONNX Runtime. */
  static ModelSpec.Builder digits() {
    Path file = Path.of("examples", "models", "digits", "1", "model.onnx").toAbsolutePath();
    if (!Files.isRegularFile(file)) {
      throw new IllegalStateException("run this in the project's directory: there is no " + file);
    }
    return ModelSpec.builder("digits")
        .backend("onnxruntime")
        .parameter("model_path", file.toString())
        .maxBatchSize(64)
        .dynamicBatching(DynamicBatching.create())
        .input("image", DataType.FP32, 8, 8)
        .output("scores", DataType.FP32, 10);
  }
}
