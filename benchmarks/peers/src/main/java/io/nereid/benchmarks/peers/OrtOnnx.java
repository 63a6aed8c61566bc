package io.nereid.benchmarks.peers;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An ONNX file through ONNX Runtime's own Java API, with its own settings but one. Each caller
 * keeps its tensors, those for outputs too, so a call makes none.
 */
final class OrtOnnx implements Contender {

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OnnxModel onnx;
  private final OrtSession session;
  private final float expected;

  /**
   * Opens a session.
   *
   * @param spinning whether its threads spin while they wait for work, as they do by themselves
   */
  OrtOnnx(OnnxModel onnx, boolean spinning) {
    this.onnx = onnx;
    try (var options = new OrtSession.SessionOptions()) {
      if (!spinning) {
        options.addConfigEntry("session.intra_op.allow_spinning", "0");
      }
      session = environment.createSession(onnx.file().toString(), options);
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime cannot open " + onnx.file(), e);
    }
    try (Waiting first = new Waiting()) {
      expected = first.infer();
    }
  }

  @Override
  public float answer() {
    return expected;
  }

  @Override
  public Caller caller() {
    return new Waiting();
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime cannot close " + onnx.file(), e);
    }
  }

  private final class Waiting implements Caller {

    private final Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
    private final ByteBuffer result;
    private final Map<String, OnnxTensor> outputs;

    Waiting() {
      result =
          ByteBuffer.allocateDirect(onnx.outputElements() * Float.BYTES)
              .order(ByteOrder.nativeOrder());
      try {
        for (OnnxModel.Input input : onnx.inputs()) {
          OnnxJavaType type = input.integers() ? OnnxJavaType.INT64 : OnnxJavaType.FLOAT;
          inputs.put(
              input.name(),
              OnnxTensor.createTensor(environment, input.buffer(), input.shape(), type));
        }
        outputs =
            Map.of(
                onnx.output(),
                OnnxTensor.createTensor(
                    environment, result, onnx.outputShape(), OnnxJavaType.FLOAT));
      } catch (OrtException e) {
        throw new IllegalStateException("ONNX Runtime takes no tensor", e);
      }
    }

    float infer() {
      try {
        session.run(inputs, outputs).close();
        return result.getFloat(0);
      } catch (OrtException e) {
        throw new IllegalStateException("ONNX Runtime cannot run " + onnx.file(), e);
      }
    }

    @Override
    public void call() {
      onnx.checkSame(expected, infer());
    }

    @Override
    public void close() {
      inputs.values().forEach(OnnxTensor::close);
      outputs.values().forEach(OnnxTensor::close);
    }
  }
}
