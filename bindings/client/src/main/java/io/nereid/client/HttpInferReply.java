package io.nereid.client;

import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the reply to an infer request over HTTP: the JSON describes the outputs, whose data are in
 * it or behind it.
 */
final class HttpInferReply {

  private final InferRequest request;
  private final HttpReply reply;
  private final MemoryPool pool;
  private final List<MemoryPool.Lease> leases = new ArrayList<>();
  private final List<Output> outputs = new ArrayList<>();
  private String modelName = "";
  private String modelVersion = "";
  private String id = "";
  private Map<String, Object> parameters = new LinkedHashMap<>();

  /** An output whose description is being read. */
  private static final class Output {
    private String name;
    private String datatype;
    private long[] shape;
    private Map<String, Object> parameters = Map.of();
    private int dataAt = -1; // the begin of its data in the text; -1: no data there
  }

  private HttpInferReply(InferRequest request, HttpReply reply, MemoryPool pool) {
    this.request = request;
    this.reply = reply;
    this.pool = pool;
  }

  /** Reads a reply, and takes its memory over, even on failure. */
  static InferResponse read(InferRequest request, HttpReply reply, MemoryPool pool) {
    HttpInferReply reading = new HttpInferReply(request, reply, pool);
    if (reply.binary() != null) {
      reading.leases.add(reply.binary());
    }
    try {
      return reading.read();
    } catch (RuntimeException e) {
      reading.leases.forEach(MemoryPool.Lease::close);
      throw e instanceof JacksonException json ? JsonReading.malformed(json) : e;
    }
  }

  private InferResponse read() {
    try (JsonParser parser = JsonReading.parser(reply.text(), 0, reply.textLength())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw InferenceException.malformed("expected a JSON object");
      }
      readMembers(parser);
    }
    InferResponse response = new InferResponse(modelName, modelVersion, id, parameters, leases);
    ByteBuffer binary = reply.binaryPart();
    int at = 0;
    for (Output output : outputs) {
      at += add(output, binary, at, response);
    }
    if (at != binary.limit()) {
      throw InferenceException.malformed(
          "its outputs have " + at + " bytes of binary data, and it has " + binary.limit());
    }
    return response;
  }

  private void readMembers(JsonParser parser) {
    for (String member = parser.nextName(); member != null; member = parser.nextName()) {
      parser.nextToken();
      switch (member) {
        case "model_name" -> modelName = text(parser);
        case "model_version" -> modelVersion = text(parser);
        case "id" -> id = text(parser);
        case "parameters" -> parameters = parameters(parser);
        case "outputs" -> readOutputs(parser);
        default -> parser.skipChildren();
      }
    }
  }

  /** Reads a string; empty if a server writes null. */
  private static String text(JsonParser parser) {
    Object value = JsonReading.value(parser);
    return value == null ? "" : value.toString();
  }

  private static Map<String, Object> parameters(JsonParser parser) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    if (JsonReading.value(parser) instanceof Map<?, ?> members) {
      members.forEach((name, value) -> {
        if (value instanceof Boolean || value instanceof Number || value instanceof String) {
          parameters.put((String) name, value);
        }
      });
    }
    return parameters;
  }

  private void readOutputs(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw InferenceException.malformed("'outputs' is not an array");
    }
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        throw InferenceException.malformed("an element of 'outputs' is not an object");
      }
      outputs.add(readOutput(parser));
    }
  }

  private static Output readOutput(JsonParser parser) {
    Output output = new Output();
    for (String member = parser.nextName(); member != null; member = parser.nextName()) {
      parser.nextToken();
      switch (member) {
        case "name" -> output.name = text(parser);
        case "datatype" -> output.datatype = text(parser);
        case "shape" -> output.shape = shape(parser);
        case "parameters" -> output.parameters = parameters(parser);
        case "data" -> {
          // The data is read once type and shape are known, which servers may write behind it.
          if (parser.currentToken() != JsonToken.VALUE_NULL) {
            output.dataAt = (int) parser.currentTokenLocation().getByteOffset();
          }
          parser.skipChildren();
        }
        default -> parser.skipChildren();
      }
    }
    if (output.name == null || output.datatype == null || output.shape == null) {
      throw InferenceException.malformed(
          "an output lacks name, datatype or shape: it has %s, %s, %s"
              .formatted(output.name, output.datatype, Arrays.toString(output.shape)));
    }
    return output;
  }

  private static long[] shape(JsonParser parser) {
    if (!(JsonReading.value(parser) instanceof List<?> dims)) {
      throw InferenceException.malformed("the 'shape' of an output is not an array");
    }
    long[] shape = new long[dims.size()];
    for (int i = 0; i < shape.length; i++) {
      if (!(dims.get(i) instanceof Long dim) || dim < 0) {
        throw InferenceException.malformed("an output has the shape " + dims);
      }
      shape[i] = dim;
    }
    return shape;
  }

  /** Adds an output; returns the length of its binary data. */
  private int add(Output output, ByteBuffer binary, int at, InferResponse response) {
    DataType type = ReplyTensors.dataType(output.datatype, output.name);
    boolean hasData = output.dataAt >= 0 || output.parameters.containsKey("binary_data_size");
    boolean saysShared = output.parameters.containsKey(ReplyTensors.REGION);
    if (!hasData && ReplyTensors.isShared(request, output.name, saysShared)) {
      Tensor shared =
          ReplyTensors.inSharedMemory(
              request, response, output.name, type, output.parameters, output.shape);
      response.add(output.name, shared);
      return 0;
    }
    ByteBuffer data;
    long size = 0;
    if (output.parameters.get("binary_data_size") instanceof Long binarySize) {
      size = binarySize;
      if (size < 0 || size > binary.limit() - at) {
        throw InferenceException.malformed(
            "output '%s' has %s bytes of binary data, %s are left"
                .formatted(output.name, size, binary.limit() - at));
      }
      data = Buffers.slice(binary, at, (int) size);
    } else if (output.dataAt >= 0) {
      data = readData(output, type);
    } else {
      throw InferenceException.malformed("output '" + output.name + "' has no data");
    }
    response.add(
        output.name, ReplyTensors.withData(response, output.name, type, data, output.shape));
    return (int) size;
  }

  private ByteBuffer readData(Output output, DataType type) {
    long count = ReplyTensors.elementCount(output.name, output.shape);
    int length = reply.textLength() - output.dataAt;
    // An element takes at least two characters, so an impossible count allocates nothing.
    if (count > length) {
      throw InferenceException.malformed(
          "output '%s' has %s elements by its shape, and fewer in 'data'"
              .formatted(output.name, count));
    }
    try (JsonParser parser = JsonReading.parser(reply.text(), output.dataAt, length)) {
      parser.nextToken();
      JsonTensorReader reader = new JsonTensorReader(parser, output.name, type, count);
      if (type == DataType.BYTES) {
        return reader.readBytes();
      }
      MemoryPool.Lease lease = pool.take(count * type.byteSize());
      leases.add(lease);
      reader.read(lease.buffer());
      return lease.buffer();
    }
  }
}
