package io.nereid.perf;

import com.google.protobuf.InvalidProtocolBufferException;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.proto.ModelInferResponse;
import io.nereid.types.DataType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * Checks a reply against the model's metadata: every output, with its datatype and as many bytes or
 * values as its shape. For runs that check rather than measure speed.
 */
final class ReplyCheck {

  private final Map<String, TensorInfo> outputs;
  private final boolean shared;

  /** {@code shared}: outputs are in shared memory, which not every server mentions in its reply. */
  ReplyCheck(ModelInfo model, boolean shared) {
    this.shared = shared;
    outputs =
        model.outputs().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
  }

  /** Returns the fault of a reply; null: it is right. */
  String http(HttpReplyParser.Head head, byte[] body) {
    int jsonLength = head.jsonLength() < 0 ? body.length : head.jsonLength();
    if (jsonLength > body.length) {
      return "its JSON should have " + jsonLength + " bytes, the body has " + body.length;
    }
    long binary = 0;
    int found = 0;
    try {
      String json = new String(body, 0, jsonLength, StandardCharsets.UTF_8);
      if (!(JSON.std.mapFrom(json).get("outputs") instanceof List<?> tensors)) {
        return "it has no outputs";
      }
      for (Object tensor : tensors) {
        Map<?, ?> output = (Map<?, ?>) tensor;
        String fault = httpOutput(output);
        if (fault != null) {
          return fault;
        }
        binary += binarySize(output);
        found++;
      }
    } catch (JacksonException | ClassCastException e) {
      return "it is no JSON of the protocol: " + e.getMessage();
    }
    if (binary != body.length - jsonLength) {
      return "its tensors should have " + binary + " bytes, got " + (body.length - jsonLength);
    }
    return found == outputs.size() ? null : missing(found);
  }

  private String httpOutput(Map<?, ?> output) {
    String name = String.valueOf(output.get("name"));
    List<?> dims = output.get("shape") instanceof List<?> list ? list : List.of();
    long elements =
        dims.stream().mapToLong(dim -> ((Number) dim).longValue()).reduce(1, (a, b) -> a * b);
    long size = output.get("data") == null ? binarySize(output) : -1;
    long values = output.get("data") instanceof List<?> data ? count(data) : -1;
    return fault(
        name, String.valueOf(output.get("datatype")), elements, shared ? -1 : size, values);
  }

  private static long binarySize(Map<?, ?> output) {
    return output.get("parameters") instanceof Map<?, ?> parameters
            && parameters.get("binary_data_size") instanceof Number size
        ? size.longValue()
        : 0;
  }

  private static long count(List<?> data) {
    return data.stream().mapToLong(value -> value instanceof List<?> row ? count(row) : 1).sum();
  }

  /** Returns the fault of an output; -1 in place of bytes or values: not known. */
  private String fault(String name, String datatype, long elements, long bytes, long values) {
    TensorInfo info = outputs.get(name);
    if (info == null) {
      return "output '" + name + "' is none of the model's";
    }
    if (!info.type().name().equals(datatype)) {
      return "output '" + name + "' should be " + info.type() + ", got " + datatype;
    }
    if (values >= 0 && values != elements) {
      return "output '" + name + "' should have " + elements + " values, got " + values;
    }
    if (bytes >= 0 && info.type() != DataType.BYTES && bytes != elements * info.type().byteSize()) {
      return "output '"
          + name
          + "' should have "
          + elements * info.type().byteSize()
          + " bytes, got "
          + bytes;
    }
    return null;
  }

  private String missing(int found) {
    return "it should have the outputs " + outputs.keySet() + ", got " + found;
  }

  /** Returns the fault of a reply; null: it is right. */
  String grpc(byte[] message) {
    ModelInferResponse reply;
    try {
      reply = ModelInferResponse.parseFrom(message);
    } catch (InvalidProtocolBufferException e) {
      return "it is no ModelInferResponse: " + e.getMessage();
    }
    int raw = 0;
    for (ModelInferResponse.InferOutputTensor output : reply.getOutputsList()) {
      long elements = output.getShapeList().stream().reduce(1L, (a, b) -> a * b);
      long bytes = -1;
      boolean elsewhere = output.hasContents() || shared;
      if (!elsewhere && raw < reply.getRawOutputContentsCount()) {
        bytes = reply.getRawOutputContents(raw++).size();
      }
      String fault = fault(output.getName(), output.getDatatype(), elements, bytes, -1);
      if (fault != null) {
        return fault;
      }
    }
    return reply.getOutputsCount() == outputs.size() ? null : missing(reply.getOutputsCount());
  }
}
