package io.nereid.perf;

import com.google.protobuf.CodedOutputStream;
import io.nereid.perf.InputData.Step;
import io.nereid.perf.InputData.Tensor;
import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** Encodes requests for gRPC, each once, as the bytes of messages. */
final class GrpcRequestEncoder {

  /** Field 1 of InferParameter. */
  private static final int BOOL_TAG = 1 << 3;

  /** Field 2 of InferParameter. */
  private static final int INT64_TAG = 2 << 3;

  /** Fields 1 and 2 of an entry of a map. */
  private static final int KEY_TAG = 1 << 3 | 2;

  private static final int VALUE_TAG = 2 << 3 | 2;

  private GrpcRequestEncoder() {}

  static Encoded encode(
      RequestPlan plan,
      Step step,
      List<SharedArea.Place> inputs,
      Map<String, SharedArea.Place> outputs) {
    ModelInferRequest.Builder request =
        ModelInferRequest.newBuilder()
            .setModelName(plan.target().model())
            .setModelVersion(plan.target().version());
    // The id follows the fields written so far, since fields are written in the order of their
    // numbers.
    int requestId = plan.requestIds() ? request.build().getSerializedSize() + 2 : -1;
    request.setId(plan.requestIds() ? "0".repeat(Encoded.ID_DIGITS) : plan.id());
    for (int i = 0; i < step.inputs().size(); i++) {
      Tensor input = step.inputs().get(i);
      InferInputTensor.Builder tensor =
          InferInputTensor.newBuilder()
              .setName(input.info().name())
              .setDatatype(input.info().type().name());
      for (long dim : input.shape()) {
        tensor.addShape(dim);
      }
      if (plan.inputForm() == TensorForm.SHM) {
        memory(inputs.get(i)).forEach(tensor::putParameters);
      }
      request.addInputs(tensor);
    }
    outputs.forEach((name, place) -> {
      InferRequestedOutputTensor.Builder output =
          InferRequestedOutputTensor.newBuilder().setName(name);
      if (place != SharedArea.NOWHERE) {
        memory(place).forEach(output::putParameters);
      }
      request.addOutputs(output);
    });
    plan.parameters().forEach((name, value) -> request.putParameters(name, parameter(value)));
    if (plan.streaming() && plan.model().decoupled()) {
      request.putParameters("triton_enable_empty_final_response", parameter(true));
    }
    try {
      return encoded(plan, step, request.build().toByteArray(), requestId);
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail", e);
    }
  }

  private static Encoded encoded(RequestPlan plan, Step step, byte[] described, int requestId)
      throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    head.writeBytes(described);
    Encoded.Marks marks =
        plan.requestIds() ? new Encoded.Marks(false, requestId, -1, -1, -1) : null;
    if (plan.sequences()) {
      int id = sequenceParameter(head, "sequence_id", INT64_TAG, 5);
      int start = sequenceParameter(head, "sequence_start", BOOL_TAG, 1);
      int end = sequenceParameter(head, "sequence_end", BOOL_TAG, 1);
      marks = new Encoded.Marks(false, requestId, id, start, end);
    }
    ByteArrayOutputStream tail = new ByteArrayOutputStream();
    if (plan.inputForm() == TensorForm.BINARY) {
      CodedOutputStream out = CodedOutputStream.newInstance(tail);
      for (Tensor input : step.inputs()) {
        out.writeByteArray(ModelInferRequest.RAW_INPUT_CONTENTS_FIELD_NUMBER, input.bytes());
      }
      out.flush();
    }
    return new Encoded(head.toByteArray(), tail.toByteArray(), plan.rows(step), marks);
  }

  /** Writes one entry of the map of parameters; returns the position of its value's bytes. */
  private static int sequenceParameter(
      ByteArrayOutputStream message, String name, int valueTag, int valueBytes) throws IOException {
    ByteArrayOutputStream entry = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(entry);
    out.writeUInt32NoTag(KEY_TAG);
    out.writeStringNoTag(name);
    out.writeUInt32NoTag(VALUE_TAG);
    out.writeUInt32NoTag(1 + valueBytes);
    out.writeUInt32NoTag(valueTag);
    out.writeRawBytes(new byte[valueBytes]);
    out.flush();
    CodedOutputStream field = CodedOutputStream.newInstance(message);
    field.writeByteArray(ModelInferRequest.PARAMETERS_FIELD_NUMBER, entry.toByteArray());
    field.flush();
    return message.size() - valueBytes;
  }

  private static Map<String, InferParameter> memory(SharedArea.Place place) {
    return Map.of(
        "shared_memory_region", parameter(place.region()),
        "shared_memory_offset", parameter(place.offset()),
        "shared_memory_byte_size", parameter(place.byteSize()));
  }

  private static InferParameter parameter(Object value) {
    InferParameter.Builder parameter = InferParameter.newBuilder();
    if (value instanceof Boolean truth) {
      parameter.setBoolParam(truth);
    } else if (value instanceof Long number) {
      parameter.setInt64Param(number);
    } else if (value instanceof Double number) {
      parameter.setDoubleParam(number);
    } else {
      parameter.setStringParam(value.toString());
    }
    return parameter.build();
  }
}
