package io.nereid.server.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.InferResponse;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.HeapArrays;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes responses of models: JSON into a buffer, binary outputs without a copy. */
final class InferResponseWriter {

  private InferResponseWriter() {}

  /** Writes the JSON part and returns the segments behind it, none of them empty. */
  static List<MemorySegment> write(
      InferResponse response, WantedOutputs requested, boolean allBinary, JsonBuffer json) {
    json.write('{');
    response.id().ifPresent(id -> json.ascii("\"id\":").string(id).write(','));
    json.ascii("\"model_name\":").string(response.modelName());
    json.ascii(",\"model_version\":\"").number(response.modelVersion()).write('"');
    Map<String, Object> parameters = response.parameters();
    if (!parameters.isEmpty()) {
      json.ascii(",\"parameters\":{");
      writeParameters(parameters, json);
      json.write('}');
    }
    json.ascii(",\"outputs\":[");
    List<MemorySegment> binary = List.of();
    boolean first = true;
    for (String name : response.outputNames()) {
      if (!first) {
        json.write(',');
      }
      first = false;
      WantedOutputs.WantedOutput wanted = requested.of(name);
      Tensor tensor = response.output(name);
      if (wanted.classification() != null) {
        tensor = wanted.classification().classify(tensor, json.heap(), json::pause);
      }
      describe(name, tensor, json);
      if (wanted.slice() != null) {
        wanted.slice().write(name, tensor);
        // No parameters are written, because stock clients take any for a sign of binary data.
        json.write('}');
      } else if (allBinary || requested.isBinary(wanted)) {
        json.ascii(",\"parameters\":{\"binary_data_size\":").number(tensor.byteSize()).ascii("}}");
        if (tensor.byteSize() > 0) {
          if (binary.isEmpty()) {
            binary = new ArrayList<>(2);
          }
          binary.add(tensor.segment());
        }
      } else {
        json.ascii(",\"data\":");
        writeTensor(tensor, name, json);
        json.write('}');
      }
    }
    json.ascii("]}");
    return binary;
  }

  private static void writeParameters(Map<String, Object> parameters, JsonBuffer json) {
    String separator = "";
    for (Map.Entry<String, Object> parameter : parameters.entrySet()) {
      json.ascii(separator).string(parameter.getKey()).write(':');
      if (parameter.getValue() instanceof String text) {
        json.string(text);
      } else {
        json.ascii(parameter.getValue().toString());
      }
      separator = ",";
    }
  }

  private static void describe(String name, Tensor tensor, JsonBuffer json) {
    json.ascii("{\"name\":").string(name);
    json.ascii(",\"datatype\":\"").ascii(tensor.dataType().name()).ascii("\",\"shape\":[");
    for (int i = 0; i < tensor.rank(); i++) {
      if (i > 0) {
        json.write(',');
      }
      json.number(tensor.dim(i));
    }
    json.write(']');
  }

  /**
   * Writes a response in the generate extension's form: an object whose members are the outputs.
   */
  static void writeGenerated(InferResponse response, JsonBuffer json) {
    json.write('{');
    response.id().ifPresent(id -> json.ascii("\"id\":").string(id).write(','));
    json.ascii("\"model_name\":").string(response.modelName());
    json.ascii(",\"model_version\":\"").number(response.modelVersion()).write('"');
    Map<String, Object> parameters = response.parameters();
    if (!parameters.isEmpty()) {
      json.write(',');
      writeParameters(parameters, json);
    }
    for (String name : response.outputNames()) {
      Tensor tensor = response.output(name);
      json.ascii(",").string(name).write(':');
      if (tensor.elementCount() == 1) {
        writeElements(tensor, name, json);
      } else {
        writeTensor(tensor, name, json);
      }
    }
    json.write('}');
  }

  // ---- Tensors ---------------------------------------------------------------------------------

  /** Writes the elements of a tensor as an array. */
  static void writeTensor(Tensor tensor, String output, JsonBuffer json) {
    json.write('[');
    writeElements(tensor, output, json);
    json.write(']');
  }

  /** Writes the elements with commas between them. */
  private static void writeElements(Tensor tensor, String output, JsonBuffer json) {
    DataType type = tensor.dataType();
    if (type == DataType.FP16 || type == DataType.BF16) {
      throw HttpFailure.badRequest(
          "sending "
              + type
              + " data via JSON is not supported. Please use the binary data format for output "
              + output);
    }
    MemorySegment data = tensor.segment();
    if (type == DataType.BYTES) {
      writeStrings(data, json);
    } else if (type == DataType.FP32) {
      writeFloats(data, json);
    } else {
      long count = data.byteSize() / type.byteSize();
      for (long i = 0; i < count; i++) {
        if (i > 0) {
          json.write(',');
        }
        element(type, data, i, json);
      }
    }
  }

  private static void writeFloats(MemorySegment data, JsonBuffer json) {
    for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
      if (at > 0) {
        json.write(',');
      }
      // The shortest text that reads back as the same value; NaN and Infinity as such.
      json.number(data.get(JAVA_FLOAT_UNALIGNED, at));
    }
  }

  private static void element(DataType type, MemorySegment data, long i, JsonBuffer json) {
    switch (type) {
      case BOOL -> json.ascii(data.get(JAVA_BYTE, i) == 0 ? "false" : "true");
      case INT8 -> json.number(data.get(JAVA_BYTE, i));
      case UINT8 -> json.number(data.get(JAVA_BYTE, i) & 0xff);
      case INT16 -> json.number(data.get(JAVA_SHORT_UNALIGNED, i * 2));
      case UINT16 -> json.number(data.get(JAVA_SHORT_UNALIGNED, i * 2) & 0xffff);
      case INT32 -> json.number(data.get(JAVA_INT_UNALIGNED, i * 4));
      case UINT32 -> json.number(data.get(JAVA_INT_UNALIGNED, i * 4) & 0xffff_ffffL);
      case INT64 -> json.number(data.get(JAVA_LONG_UNALIGNED, i * 8));
      case UINT64 -> {
        long value = data.get(JAVA_LONG_UNALIGNED, i * 8);
        if (value >= 0) {
          json.number(value);
        } else {
          json.ascii(Long.toUnsignedString(value));
        }
      }
      case FP64 -> json.ascii(Double.toString(data.get(JAVA_DOUBLE_UNALIGNED, i * 8)));
      case FP32, FP16, BF16, BYTES ->
          throw new IllegalStateException(type + " is not written here");
    }
  }

  /** Writes strings, whose lengths the runtime has checked. */
  private static void writeStrings(MemorySegment data, JsonBuffer json) {
    byte[] utf8 = new byte[256];
    for (long at = 0; at < data.byteSize(); ) {
      int length = data.get(JAVA_INT_UNALIGNED, at);
      if (length > utf8.length) {
        json.takeHeap(HeapArrays.cost(length));
        utf8 = new byte[length];
      }
      MemorySegment.copy(data, JAVA_BYTE, at + Integer.BYTES, utf8, 0, length);
      if (at > 0) {
        json.write(',');
      }
      json.utf8String(utf8, 0, length);
      at += Integer.BYTES + length;
    }
  }
}
