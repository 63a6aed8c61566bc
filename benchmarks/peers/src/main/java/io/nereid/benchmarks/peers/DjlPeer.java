package io.nereid.benchmarks.peers;

import ai.djl.MalformedModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import io.nereid.benchmarks.peers.Plan.Workload;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An ONNX file through DJL's engine for ONNX Runtime. A predictor is made for one thread, so each
 * caller has its own; it keeps its inputs.
 */
final class DjlPeer implements Peer {

  private final Workload workload;
  private final ZooModel<NDList, NDList> model;

  DjlPeer(Workload workload, Places places) {
    this.workload = workload;
    try {
      model =
          Criteria.builder()
              .setTypes(NDList.class, NDList.class)
              .optEngine("OnnxRuntime")
              .optModelPath(places.onnx(workload))
              .optTranslator(new NoopTranslator())
              .build()
              .loadModel();
    } catch (IOException | ModelNotFoundException | MalformedModelException e) {
      throw new IllegalStateException("DJL cannot open " + workload.label, e);
    }
  }

  @Override
  public Caller waiting() {
    return new Waiting();
  }

  @Override
  public void close() {
    model.close();
  }

  private final class Waiting implements Caller {

    private final Question question = Question.of(workload);
    private final NDManager manager = model.getNDManager().newSubManager();
    private final Predictor<NDList, NDList> predictor = model.newPredictor();
    private final NDList inputs = new NDList();

    Waiting() {
      for (Question.Input input : question.inputs()) {
        ByteBuffer data = input.data().asByteBuffer().order(ByteOrder.nativeOrder());
        Shape shape = new Shape(input.shape());
        NDArray array =
            input.type() == DataType.INT64
                ? manager.create(data.asLongBuffer(), shape, ai.djl.ndarray.types.DataType.INT64)
                : manager.create(
                    data.asFloatBuffer(), shape, ai.djl.ndarray.types.DataType.FLOAT32);
        array.setName(input.name());
        inputs.add(array);
      }
    }

    @Override
    public void send() {
      try (NDList outputs = predictor.predict(inputs)) {
        // The one way in is a copy of all values.
        question.check(MemorySegment.ofBuffer(outputs.head().toByteBuffer()));
      } catch (TranslateException e) {
        throw new IllegalStateException("DJL cannot run " + workload.label, e);
      }
    }

    @Override
    public void close() {
      predictor.close();
      manager.close();
    }
  }
}
