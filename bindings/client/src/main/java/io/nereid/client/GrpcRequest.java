package io.nereid.client;

import com.google.protobuf.CodedOutputStream;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * A request with tensors, ready to be sent any number of times. The tensors are the caller's
 * memory, or copies that {@link MemoryPool.Outgoing} owns.
 *
 * @param message the message without the raw contents
 * @param raw the raw contents, which go behind the message: protobuf would copy each to the heap
 */
record GrpcRequest(ModelInferRequest message, List<ByteBuffer> raw) {

  private static final int RAW_CONTENTS = ModelInferRequest.RAW_INPUT_CONTENTS_FIELD_NUMBER;

  /** The size of the pieces in which it is written. */
  private static final int WRITE_BYTES = 16 << 10;

  /** The encoded size; a message of more than 2^31 - 1 bytes cannot be sent. */
  long byteSize() {
    long size = message.getSerializedSize();
    for (ByteBuffer contents : raw) {
      size +=
          CodedOutputStream.computeTagSize(RAW_CONTENTS)
              + CodedOutputStream.computeUInt64SizeNoTag(contents.remaining())
              + contents.remaining();
    }
    return size;
  }

  void writeTo(OutputStream target) throws IOException {
    byte[] chunk = new byte[(int) Math.min(byteSize(), WRITE_BYTES)];
    CodedOutputStream output = CodedOutputStream.newInstance(target, Math.max(64, chunk.length));
    message.writeTo(output);
    for (ByteBuffer contents : raw) {
      output.writeTag(RAW_CONTENTS, 2); // length-delimited
      output.writeUInt64NoTag(contents.remaining());
      if (contents.remaining() > WRITE_BYTES) {
        output.flush();
      }
      ByteBuffer left = contents.duplicate(); // a duplicate, since another attempt begins anew
      while (left.hasRemaining()) {
        int count = Math.min(chunk.length, left.remaining());
        left.get(chunk, 0, count);
        output.write(chunk, 0, count); // a whole chunk bypasses the encoder's own buffer
      }
    }
    output.flush();
  }

  static GrpcRequest of(InferRequest request, MemoryPool.Outgoing outgoing) {
    ModelInferRequest.Builder message =
        ModelInferRequest.newBuilder()
            .setModelName(request.model())
            .setModelVersion(request.version().orElse(""))
            .setId(request.id().orElse(""));
    request.parameters().forEach((name, value) -> message.putParameters(name, parameter(value)));
    List<ByteBuffer> raw = new ArrayList<>();
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
        raw.add(outgoing.shareable(tensor.memory()));
      }
      message.addInputs(description);
    }
    for (InferRequest.Output output : request.outputs().values()) {
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

  private static InferRequestedOutputTensor output(InferRequest.Output output) {
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
      SharedMemory.Slice slice, BiConsumer<String, InferParameter> parameters) {
    parameters.accept("shared_memory_region", parameter(slice.region()));
    parameters.accept("shared_memory_byte_size", parameter(slice.byteSize()));
    if (slice.offset() != 0) {
      parameters.accept("shared_memory_offset", parameter(slice.offset()));
    }
  }

  private static InferParameter parameter(Object value) {
    InferParameter.Builder parameter = InferParameter.newBuilder();
    if (value instanceof Boolean flag) {
      parameter.setBoolParam(flag);
    } else if (value instanceof Long number) {
      parameter.setInt64Param(number);
    } else if (value instanceof Double number) {
      parameter.setDoubleParam(number);
    } else {
      parameter.setStringParam((String) value);
    }
    return parameter.build();
  }
}
