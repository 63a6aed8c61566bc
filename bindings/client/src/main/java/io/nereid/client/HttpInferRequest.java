package io.nereid.client;

import io.nereid.client.ClientOptions.Compression;
import io.nereid.types.DataType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes an infer request as the body of an HTTP request: JSON, and behind it binary data. */
final class HttpInferRequest {

  /** The size up to which everything is copied into one array, which costs less than views. */
  private static final int MOST_SMALL_BYTES = 16 << 10;

  private final HttpBody body;
  private final int jsonLength;

  private HttpInferRequest(HttpBody body, int jsonLength) {
    this.body = body;
    this.jsonLength = jsonLength;
  }

  HttpBody body() {
    return body;
  }

  int jsonLength() {
    return jsonLength;
  }

  static HttpInferRequest of(
      InferRequest request,
      boolean binaryData,
      Compression compression,
      MemoryPool.Outgoing outgoing) {
    JsonWriter json = new JsonWriter();
    List<Buffer> data = new ArrayList<>();
    json.raw('{');
    request.id().ifPresent(id -> json.raw("\"id\":").string(id).raw(','));
    writeParameters(request, binaryData, json);
    json.raw("\"inputs\":[");
    boolean first = true;
    for (Map.Entry<String, Tensor> input : request.inputs().entrySet()) {
      if (!first) {
        json.raw(',');
      }
      first = false;
      writeInput(input.getKey(), input.getValue(), binaryData, data, json);
    }
    json.raw(']');
    if (!request.outputs().isEmpty()) {
      writeOutputs(request, binaryData, json);
    }
    json.raw('}');
    int jsonLength = json.size();
    List<ByteBuffer> body =
        HttpBody.Compressor.of(compression, buffers(json, data, outgoing), outgoing);
    return new HttpInferRequest(new HttpBody(body), jsonLength);
  }

  private static void writeParameters(InferRequest request, boolean binaryData, JsonWriter json) {
    // Named outputs have the setting themselves.
    boolean binaryOutputs =
        binaryData
            && request.outputs().isEmpty()
            && !request.parameters().containsKey("binary_data_output");
    if (request.parameters().isEmpty() && !binaryOutputs) {
      return;
    }
    json.raw("\"parameters\":{");
    boolean any = json.members(request.parameters());
    if (binaryOutputs) {
      json.raw(any ? "," : "").raw("\"binary_data_output\":true");
    }
    json.raw("},");
  }

  private static void writeInput(
      String name, Tensor tensor, boolean binaryData, List<Buffer> data, JsonWriter json) {
    json.raw("{\"name\":").string(name).raw(",\"shape\":").shape(tensor.rawShape());
    json.raw(",\"datatype\":\"").raw(tensor.dataType().name()).raw('"');
    if (tensor.slice() != null) {
      json.raw(",\"parameters\":{");
      writeSlice(tensor.slice(), json).raw("}}");
    } else if (binaryData) {
      json.raw(",\"parameters\":{\"binary_data_size\":").number(tensor.byteSize()).raw("}}");
      data.add(tensor.memory());
    } else {
      json.raw(",\"data\":");
      writeData(name, tensor, json);
      json.raw('}');
    }
  }

  private static void writeOutputs(InferRequest request, boolean binaryData, JsonWriter json) {
    json.raw(",\"outputs\":[");
    boolean first = true;
    for (InferRequest.Output output : request.outputs().values()) {
      json.raw(first ? "{\"name\":" : ",{\"name\":").string(output.name());
      first = false;
      if (output.slice() != null) {
        json.raw(",\"parameters\":{");
        writeSlice(output.slice(), json).raw('}');
      } else if (output.classification() > 0) {
        json.raw(",\"parameters\":{\"classification\":").number(output.classification());
        json.raw(binaryData ? ",\"binary_data\":true}" : "}");
      } else if (binaryData) {
        json.raw(",\"parameters\":{\"binary_data\":true}");
      }
      json.raw('}');
    }
    json.raw(']');
  }

  private static JsonWriter writeSlice(SharedMemory.Slice slice, JsonWriter json) {
    json.raw("\"shared_memory_region\":").string(slice.region());
    json.raw(",\"shared_memory_byte_size\":").number(slice.byteSize());
    if (slice.offset() != 0) {
      json.raw(",\"shared_memory_offset\":").number(slice.offset());
    }
    return json;
  }

  private static List<ByteBuffer> buffers(
      JsonWriter json, List<Buffer> data, MemoryPool.Outgoing outgoing) {
    long size = json.size();
    for (Buffer memory : data) {
      size += Buffers.byteSize(memory);
    }
    if (size <= MOST_SMALL_BYTES) {
      ByteBuffer all = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
      all.put(json.array(), 0, json.size());
      data.forEach(memory -> Buffers.copy(memory, all));
      return List.of(all.flip());
    }
    List<ByteBuffer> buffers = new ArrayList<>();
    buffers.add(ByteBuffer.wrap(json.array(), 0, json.size()));
    data.forEach(memory -> buffers.add(outgoing.shareable(memory)));
    return buffers;
  }

  /** Writes the elements as a flat array, for servers that support nothing else. */
  private static void writeData(String input, Tensor tensor, JsonWriter json) {
    DataType type = tensor.dataType();
    if (type == DataType.FP16 || type == DataType.BF16) {
      throw new IllegalArgumentException(
          "input '" + input + "': " + type + " has no form in JSON, only as binary data");
    }
    json.raw('[');
    if (type == DataType.BYTES) {
      byte[][] values = tensor.toByteStrings();
      for (int i = 0; i < values.length; i++) {
        if (i > 0) {
          json.raw(',');
        }
        json.string(values[i]);
      }
    } else {
      ByteBuffer data = tensor.byteBuffer();
      for (boolean first = true; data.hasRemaining(); first = false) {
        if (!first) {
          json.raw(',');
        }
        element(type, data, json);
      }
    }
    json.raw(']');
  }

  private static void element(DataType type, ByteBuffer data, JsonWriter json) {
    switch (type) {
      case BOOL -> json.raw(data.get() == 0 ? "false" : "true");
      case INT8 -> json.number(data.get());
      case UINT8 -> json.number(Byte.toUnsignedLong(data.get()));
      case INT16 -> json.number(data.getShort());
      case UINT16 -> json.number(Short.toUnsignedLong(data.getShort()));
      case INT32 -> json.number(data.getInt());
      case UINT32 -> json.number(Integer.toUnsignedLong(data.getInt()));
      case INT64 -> json.number(data.getLong());
      case UINT64 -> json.raw(Long.toUnsignedString(data.getLong()));
      case FP32 -> json.raw(Float.toString(data.getFloat()));
      case FP64 -> json.raw(Double.toString(data.getDouble()));
      case FP16, BF16, BYTES -> throw new IllegalStateException(type + " is not written here");
    }
  }
}
