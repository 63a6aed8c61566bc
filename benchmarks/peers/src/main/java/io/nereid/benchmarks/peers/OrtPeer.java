package io.nereid.benchmarks.peers;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.nereid.benchmarks.peers.Plan.Workload;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * An ONNX file through ONNX Runtime's own Java API, with default settings but one. Each caller
 * keeps its tensors, those for outputs too, so a call makes none.
 */
final class OrtPeer implements Peer {

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final Workload workload;
  private final OrtSession session;

  /**
   * Opens a session.
   *
   * @param spinning whether its threads spin while they wait for work, as they do by default
   */
  OrtPeer(Workload workload, Places places, boolean spinning) {
    this.workload = workload;
    try (var options = new OrtSession.SessionOptions()) {
      if (!spinning) {
        options.addConfigEntry("session.intra_op.allow_spinning", "0");
      }
      session = environment.createSession(places.onnx(workload).toString(), options);
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime cannot open " + workload.label, e);
    }
  }

  @Override
  public Caller waiting() {
    try {
      return new Waiting();
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime takes no tensor", e);
    }
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (OrtException e) {
      throw new IllegalStateException("ONNX Runtime cannot close " + workload.label, e);
    }
  }

  private final class Waiting implements Caller {

    private final Question question = Question.of(workload);
    private final MemorySegment result = Question.allocate(question.outputByteSize());
    private final Map<String, OnnxTensor> inputs = new HashMap<>();
    private final Map<String, OnnxTensor> outputs;

    Waiting() throws OrtException {
      for (Question.Input input : question.inputs()) {
        OnnxJavaType type =
            input.type() == DataType.INT64 ? OnnxJavaType.INT64 : OnnxJavaType.FLOAT;
        inputs.put(input.name(), tensor(input.data(), input.shape(), type));
      }
      outputs =
          Map.of(question.output(), tensor(result, question.outputShape(), OnnxJavaType.FLOAT));
    }

    private OnnxTensor tensor(MemorySegment data, long[] shape, OnnxJavaType type)
        throws OrtException {
      return OnnxTensor.createTensor(
          environment, data.asByteBuffer().order(ByteOrder.nativeOrder()), shape, type);
    }

    @Override
    public void send() {
      try {
        session.run(inputs, outputs).close();
      } catch (OrtException e) {
        throw new IllegalStateException("ONNX Runtime cannot run " + workload.label, e);
      }
      question.check(result);
    }

    @Override
    public void close() {
      inputs.values().forEach(OnnxTensor::close);
      outputs.values().forEach(OnnxTensor::close);
    }
  }
}
