package io.nereid.client;

import io.nereid.types.StatusCode;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** An infer request as a message, beside tensors that are the caller's memory. */
final class GrpcInferRequest {

  private GrpcInferRequest() {}

  static GrpcRequest of(InferRequest request, Outgoing outgoing) {
    ModelInferRequest.Builder message =
        ModelInferRequest.newBuilder()
            .setModelName(request.model())
            .setModelVersion(request.version().orElse(""))
            .setId(request.id().orElse(""));
    request.parameters().forEach((name, value) -> message.putParameters(name, parameter(value)));
    List<MemorySegment> raw = new ArrayList<>();
    for (Map.Entry<String, Tensor> input : request.inputs().entrySet()) {
      Tensor tensor = input.getValue();
      InferInputTensor.Builder description =
          InferInputTensor.newBuilder()
              .setName(input.getKey())
              .setDatatype(tensor.dataType().name());
      for (long dim : tensor.rawShape()) {
        description.addShape(dim);
      }
      if (tensor.slice() != null) {
        putSlice(tensor.slice(), description::putParameters);
      } else {
        raw.add(outgoing.shareable(tensor.segment()));
      }
      message.addInputs(description);
    }
    for (RequestedOutput output : request.outputs().values()) {
      message.addOutputs(output(output));
    }
    GrpcRequest whole = new GrpcRequest(message.build(), raw);
    if (whole.byteSize() > Integer.MAX_VALUE) {
      throw new InferenceException(
          StatusCode.RESOURCE_EXHAUSTED,
          "a request over gRPC can have 2^31 - 1 bytes, this one has " + whole.byteSize());
    }
    return whole;
  }

  private static InferRequestedOutputTensor output(RequestedOutput output) {
    InferRequestedOutputTensor.Builder description =
        InferRequestedOutputTensor.newBuilder().setName(output.name());
    if (output.slice() != null) {
      putSlice(output.slice(), description::putParameters);
    } else if (output.classification() > 0) {
      description.putParameters("classification", parameter((long) output.classification()));
    }
    return description.build();
  }

  private static void putSlice(
      SharedMemorySlice slice, BiConsumer<String, InferParameter> parameters) {
    parameters.accept("shared_memory_region", parameter(slice.region()));
    parameters.accept("shared_memory_byte_size", parameter(slice.byteSize()));
    if (slice.offset() != 0) {
      parameters.accept("shared_memory_offset", parameter(slice.offset()));
    }
  }

  private static InferParameter parameter(Object value) {
    InferParameter.Builder parameter = InferParameter.newBuilder();
    return switch (value) {
      case Boolean flag -> parameter.setBoolParam(flag).build();
      case Long number -> parameter.setInt64Param(number).build();
      case Double number -> parameter.setDoubleParam(number).build();
      default -> parameter.setStringParam((String) value).build();
    };
  }
}
