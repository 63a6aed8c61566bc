package io.nereid.stores;

import io.nereid.Nereid;
import io.nereid.model.ModelStore;
import io.nereid.model.StoreOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Models for stores, and questions to them. */
final class Fixture {

  static final Path EXAMPLES = Path.of("../../examples/models");

  static final String IDENTITY =
      """
      backend: "identity"
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  static final String IDENTITY_JSON =
      "{\"backend\": \"identity\", \"input\": [{\"name\": \"IN\", \"data_type\": \"TYPE_FP32\", \"dims\": [4]}],"
          + " \"output\": [{\"name\": \"OUT\", \"data_type\": \"TYPE_FP32\", \"dims\": [4]}]}";

  private Fixture() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Puts a model whose versions have a file each. */
  static void putIdentity(S3Server server, String model, int... versions) {
    for (int version : versions) {
      server.put("models/" + model + "/" + version + "/weights.bin", bytes(model + version));
    }
    server.put("models/" + model + "/config.pbtxt", bytes(IDENTITY));
  }

  static Path copyExample(String name, Path to) throws IOException {
    Path model = to.resolve(name);
    Files.createDirectories(model.resolve("1"));
    Files.copy(EXAMPLES.resolve(name + "/config.pbtxt"), model.resolve("config.pbtxt"));
    Files.copy(EXAMPLES.resolve(name + "/1/model.onnx"), model.resolve("1/model.onnx"));
    return model;
  }

  /** A store that loses its patience after a minute. */
  static ModelStore open(StoreOptions.Builder options) {
    return open(options, Duration.ofMinutes(1));
  }

  static ModelStore open(StoreOptions.Builder options, Duration patience) {
    return RemoteModelStore.open(options.environment(S3Server.environment()).build(), patience);
  }

  static boolean answers(Nereid nereid, String model) {
    try (var request =
            nereid.model(model).newRequest().input("IN", Tensor.ofFloats(new float[4], 4));
        var response = request.infer()) {
      return response.output("OUT").toFloatArray().length == 4;
    }
  }
}
