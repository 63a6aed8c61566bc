package io.nereid.client;

import com.google.protobuf.ByteString;
import io.nereid.proto.InferParameter;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelInferResponse.InferOutputTensor;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;

/**
 * Reads the reply to an infer request over gRPC. Raw contents stay where they were received;
 * contents by type, which some servers send, are copied into a tensor's layout.
 */
final class GrpcInferReply {

  private GrpcInferReply() {}

  /**
   * Reads a reply, and takes its memory over, even on failure.
   *
   * @param request null: the answered request is unknown
   */
  static InferResponse read(InferRequest request, GrpcReply reply) {
    try {
      return response(request, reply);
    } catch (RuntimeException e) {
      reply.lease().close();
      throw e;
    }
  }

  private static InferResponse response(InferRequest request, GrpcReply reply) {
    ModelInferResponse message = reply.message();
    InferResponse response =
        new InferResponse(
            message.getModelName(),
            message.getModelVersion(),
            message.getId(),
            parameters(message.getParametersMap()),
            List.of(reply.lease()));
    int rawCount = reply.raw().size();
    int withData = 0;
    for (InferOutputTensor output : message.getOutputsList()) {
      withData += isShared(request, output) ? 0 : 1;
    }
    // Servers may or may not leave an empty place for an output in shared memory.
    boolean placeForEach = rawCount == message.getOutputsCount();
    if (rawCount != 0 && !placeForEach && rawCount != withData) {
      throw InferenceException.malformed(
          "it has " + message.getOutputsCount() + " outputs and " + rawCount + " raw contents");
    }
    int raw = 0;
    for (InferOutputTensor output : message.getOutputsList()) {
      boolean shared = isShared(request, output);
      ByteBuffer data = null;
      if (rawCount != 0 && (placeForEach || !shared)) {
        data = reply.raw().get(raw++);
      }
      response.add(output.getName(), tensor(request, response, output, data, shared));
    }
    return response;
  }

  private static boolean isShared(InferRequest request, InferOutputTensor output) {
    return ReplyTensors.isShared(
        request, output.getName(), output.containsParameters(ReplyTensors.REGION));
  }

  private static Tensor tensor(
      InferRequest request,
      InferResponse response,
      InferOutputTensor output,
      ByteBuffer raw,
      boolean shared) {
    String name = output.getName();
    DataType type = ReplyTensors.dataType(output.getDatatype(), name);
    long[] shape = new long[output.getShapeCount()];
    for (int i = 0; i < shape.length; i++) {
      shape[i] = output.getShape(i);
    }
    if (shared) {
      Map<String, Object> parameters = parameters(output.getParametersMap());
      return ReplyTensors.inSharedMemory(request, response, name, type, parameters, shape);
    }
    ByteBuffer data = raw == null ? encode(name, type, output.getContents()) : raw;
    return ReplyTensors.withData(response, name, type, data, shape);
  }

  private static Map<String, Object> parameters(Map<String, InferParameter> message) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    message.forEach((name, value) -> {
      switch (value.getParameterChoiceCase()) {
        case BOOL_PARAM -> parameters.put(name, value.getBoolParam());
        case INT64_PARAM -> parameters.put(name, value.getInt64Param());
        case STRING_PARAM -> parameters.put(name, value.getStringParam());
        case DOUBLE_PARAM -> parameters.put(name, value.getDoubleParam());
        case UINT64_PARAM -> parameters.put(name, value.getUint64Param());
        case PARAMETERCHOICE_NOT_SET -> {
          // says nothing
        }
      }
    });
    return parameters;
  }

  /** Encodes contents by type, which some servers send, as the bytes of a tensor. */
  private static ByteBuffer encode(String output, DataType type, InferTensorContents contents) {
    return switch (type) {
      case BOOL ->
          elements(type, contents.getBoolContentsCount(), i -> contents.getBoolContents(i) ? 1 : 0);
      case INT8, INT16, INT32 ->
          elements(type, contents.getIntContentsCount(), contents::getIntContents);
      case UINT8, UINT16, UINT32 ->
          elements(type, contents.getUintContentsCount(), contents::getUintContents);
      case INT64 -> elements(type, contents.getInt64ContentsCount(), contents::getInt64Contents);
      case UINT64 -> elements(type, contents.getUint64ContentsCount(), contents::getUint64Contents);
      case FP32 ->
          elements(
              type,
              contents.getFp32ContentsCount(),
              i -> Float.floatToRawIntBits(contents.getFp32Contents(i)));
      case FP64 ->
          elements(
              type,
              contents.getFp64ContentsCount(),
              i -> Double.doubleToRawLongBits(contents.getFp64Contents(i)));
      case BYTES ->
          Tensor.encode(
              contents.getBytesContentsList().stream()
                  .map(ByteString::toByteArray)
                  .toArray(byte[][]::new));
      case FP16, BF16 ->
          throw InferenceException.malformed(
              "output '" + output + "' of " + type + " has no raw contents");
    };
  }

  private static ByteBuffer elements(DataType type, int count, IntToLongFunction bits) {
    int byteSize = type.byteSize();
    ByteBuffer to = ByteBuffer.allocate(Math.multiplyExact(count, byteSize));
    to.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      Buffers.put(to, byteSize, bits.applyAsLong(i));
    }
    return to.flip();
  }
}
