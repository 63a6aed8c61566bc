package io.nereid.server.http;

import io.nereid.InferResponse;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Makes the reply to an infer request: JSON in a buffer, binary outputs where they lie. */
final class InferResponseWriter {

  private InferResponseWriter() {}

  /** Writes the JSON part and gives the segments that follow it, which hold something. */
  static List<MemorySegment> write(
      InferResponse response, RequestedOutputs requested, boolean allBinary, JsonBuffer json) {
    json.write('{');
    response.id().ifPresent(id -> json.ascii("\"id\":").string(id).write(','));
    json.ascii("\"model_name\":").string(response.modelName());
    json.ascii(",\"model_version\":\"").number(response.modelVersion());
    json.ascii("\",\"outputs\":[");
    List<MemorySegment> binary = List.of();
    boolean first = true;
    for (String name : response.outputNames()) {
      if (!first) {
        json.write(',');
      }
      first = false;
      RequestedOutput wanted = requested.of(name);
      Tensor tensor = response.output(name);
      if (wanted.classification() != null) {
        tensor = wanted.classification().classify(tensor);
      }
      describe(name, tensor, json);
      if (wanted.slice() != null) {
        wanted.slice().write(name, tensor);
        // No parameters: stock clients take any as a sign of binary data.
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
        TensorJsonWriter.write(tensor, name, json);
        json.write('}');
      }
    }
    json.ascii("]}");
    return binary;
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
}
