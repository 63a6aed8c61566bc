package io.nereid.benchmarks.peers;

import ai.djl.MalformedModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteOrder;

/**
 * An ONNX file through DJL's engine for ONNX Runtime. A predictor is made for one thread, so each
 * caller has its own; it keeps its inputs.
 */
final class DjlOnnx implements Contender {

  private final OnnxModel onnx;
  private final ZooModel<NDList, NDList> model;
  private final float expected;

  DjlOnnx(OnnxModel onnx) {
    this.onnx = onnx;
    try {
      model =
          Criteria.builder()
              .setTypes(NDList.class, NDList.class)
              .optEngine("OnnxRuntime")
              .optModelPath(onnx.file())
              .optTranslator(new NoopTranslator())
              .build()
              .loadModel();
    } catch (IOException | ModelNotFoundException | MalformedModelException e) {
      throw new IllegalStateException("DJL cannot open " + onnx.file(), e);
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
    model.close();
  }

  private final class Waiting implements Caller {

    private final NDManager manager = model.getNDManager().newSubManager();
    private final Predictor<NDList, NDList> predictor = model.newPredictor();
    private final NDList inputs = new NDList();

    Waiting() {
      for (OnnxModel.Input input : onnx.inputs()) {
        NDArray array =
            input.integers()
                ? manager.create(
                    input.buffer().asLongBuffer(), new Shape(input.shape()), DataType.INT64)
                : manager.create(
                    input.buffer().asFloatBuffer(), new Shape(input.shape()), DataType.FLOAT32);
        array.setName(input.name());
        inputs.add(array);
      }
    }

    float infer() {
      try (NDList outputs = predictor.predict(inputs)) {
        // The one way in is a copy of all values.
        return outputs.head().toByteBuffer().order(ByteOrder.nativeOrder()).getFloat(0);
      } catch (TranslateException e) {
        throw new IllegalStateException("DJL cannot run " + onnx.file(), e);
      }
    }

    @Override
    public void call() {
      onnx.checkSame(expected, infer());
    }

    @Override
    public void close() {
      predictor.close();
      manager.close();
    }
  }
}
