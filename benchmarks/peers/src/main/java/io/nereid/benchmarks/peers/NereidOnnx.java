package io.nereid.benchmarks.peers;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Nereid with an ONNX file, with its own settings and dynamic batching. */
final class NereidOnnx implements Contender {

  private static final int MAX_BATCH_SIZE = 64;

  private final Nereid nereid = Nereid.create();
  private final Model model;
  private final OnnxModel onnx;
  private final Map<String, Tensor> inputs = new LinkedHashMap<>();
  private final float expected;

  NereidOnnx(OnnxModel onnx) {
    this.onnx = onnx;
    ModelSpec.Builder spec =
        ModelSpec.builder("onnx")
            .backend("onnxruntime")
            .parameter("model_path", onnx.file().toString())
            .maxBatchSize(MAX_BATCH_SIZE)
            .dynamicBatching(DynamicBatching.create())
            .output(onnx.output(), DataType.FP32, withoutBatch(onnx.outputShape()));
    for (OnnxModel.Input input : onnx.inputs()) {
      DataType type = input.integers() ? DataType.INT64 : DataType.FP32;
      spec.input(input.name(), type, withoutBatch(input.shape()));
      inputs.put(input.name(), Tensor.of(type, input.data(), input.shape()));
    }
    model = nereid.load(spec.build());
    expected = infer();
  }

  private static long[] withoutBatch(long[] shape) {
    return Arrays.copyOfRange(shape, 1, shape.length);
  }

  @Override
  public float answer() {
    return expected;
  }

  private float infer() {
    try (InferRequest request = model.newRequest()) {
      inputs.forEach(request::input);
      try (var response = request.infer()) {
        return response.output(onnx.output()).floatAt(0);
      }
    }
  }

  @Override
  public Caller caller() {
    return new Caller() {
      @Override
      public void call() {
        onnx.checkSame(expected, infer());
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    nereid.close();
  }
}
