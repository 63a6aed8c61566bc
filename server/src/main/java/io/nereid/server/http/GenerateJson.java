package io.nereid.server.http;

import io.nereid.InferResponse;
import io.nereid.tensor.Tensor;

/** Writes a response as an object whose members are its outputs. */
final class GenerateJson {

  private GenerateJson() {}

  static void write(InferResponse response, JsonBuffer json) {
    json.write('{');
    response.id().ifPresent(id -> json.ascii("\"id\":").string(id).write(','));
    json.ascii("\"model_name\":").string(response.modelName());
    json.ascii(",\"model_version\":\"").number(response.modelVersion()).write('"');
    for (String name : response.outputNames()) {
      Tensor tensor = response.output(name);
      json.ascii(",").string(name).write(':');
      if (tensor.elementCount() == 1) {
        TensorJsonWriter.writeElements(tensor, name, json);
      } else {
        TensorJsonWriter.write(tensor, name, json);
      }
    }
    json.write('}');
  }
}
