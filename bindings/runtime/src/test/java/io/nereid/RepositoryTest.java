package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Model repositories as the public API shows them. */
class RepositoryTest {

  private static final Path EXAMPLES = Path.of("../../examples/models");

  private static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  @TempDir Path repository;

  private Path write(String model, String config) throws IOException {
    Path directory = Files.createDirectories(repository.resolve(model).resolve("1"));
    Files.writeString(repository.resolve(model).resolve("config.pbtxt"), config);
    return directory;
  }

  private static NereidException unavailable(Nereid nereid, String model) {
    NereidException e = assertThrows(NereidException.class, () -> nereid.model(model));
    assertEquals(StatusCode.UNAVAILABLE, e.code(), e.getMessage());
    return e;
  }

  @Test
  void brokenModelsAreListedWithTheirReasonsAndTheOthersServe() throws IOException {
    write("good", "backend: \"identity\"\n" + TENSORS);
    write("broken", "input {\n  nonsense: 1\n}");
    write("engine", "platform: \"tensorrt_plan\"\n" + TENSORS).resolve("model.plan");
    Files.writeString(repository.resolve("engine/1/model.plan"), "x");
    write("garbage", "backend: \"onnxruntime\"\n" + TENSORS);
    Files.writeString(repository.resolve("garbage/1/model.onnx"), "no onnx file");
    write("stranger", "backend: \"no.such.Backend\"\n" + TENSORS);
    write("vectors", "backend: \"text\"\n" + TENSORS);
    try (Nereid nereid = Nereid.open(repository)) {
      Map<String, ModelState> states = new TreeMap<>();
      nereid.models().forEach(model -> states.put(model.name(), model.state()));
      assertEquals(
          Map.of(
              "good", ModelState.READY,
              "broken", ModelState.FAILED,
              "engine", ModelState.FAILED,
              "garbage", ModelState.FAILED,
              "stranger", ModelState.FAILED,
              "vectors", ModelState.FAILED),
          states);
      for (Model model : nereid.models()) {
        assertEquals(model.state() == ModelState.FAILED, model.failure().isPresent(), "" + model);
        model
            .failure()
            .ifPresent(reason ->
                assertTrue(unavailable(nereid, model.name()).getMessage().endsWith(reason)));
      }
      assertEquals(
          "Request for unknown model: 'broken' is not at ready state: broken/config.pbtxt:2:3:"
              + " ModelInput has no field 'nonsense', it has name, data_type, format, dims,"
              + " reshape, is_shape_tensor, allow_ragged_batch, optional, is_non_linear_format_io",
          unavailable(nereid, "broken").getMessage());
      assertTrue(
          unavailable(nereid, "engine").getMessage().contains("needs the backend 'tensorrt'"));
      String vectors = unavailable(nereid, "vectors").getMessage();
      assertTrue(vectors.contains("needs the backend 'text', which is not on the"), vectors);
      assertTrue(vectors.contains("add io.nereid:nereid-text"), vectors);
      assertTrue(vectors.contains("NEREID_CLASS_PATH="), vectors);
      String stranger = unavailable(nereid, "stranger").getMessage();
      assertTrue(stranger.contains("no.such.Backend"), stranger);
      assertTrue(stranger.contains("NEREID_CLASS_PATH="), stranger);
      assertThrows(NereidException.class, () -> nereid.model("broken", 7));
      float[] values = {1, 2, 3, 4};
      try (InferRequest request =
              nereid.model("good").newRequest().input("IN", Tensor.ofFloats(values, 4));
          InferResponse response = request.infer()) {
        assertEquals(3, response.output("OUT").floatAt(2));
      }
    }
  }

  @Test
  void oneModelOfARepositoryCanBeLoadedAndMended() throws IOException {
    write("m", "backend: \"identity\"\n" + TENSORS.replace("4", "0"));
    write("other", "backend: \"identity\"\n" + TENSORS);
    var options = RepositoryOptions.builder().repository(repository).explicit().build();
    try (Nereid nereid = Nereid.open(options)) {
      Repository models = nereid.repository();
      NereidException failure = assertThrows(NereidException.class, () -> models.load("m"));
      assertTrue(failure.getMessage().contains("m/config.pbtxt:2:"), failure.getMessage());
      write("m", "backend: \"identity\"\n" + TENSORS);
      models.load("m");
      Model model = nereid.model("m");
      assertEquals(ModelState.READY, model.state());
      assertEquals(1, model.version());
      assertTrue(nereid.models().stream().noneMatch(other -> other.name().equals("other")));

      write("m", "backend: \"identity\"");
      assertThrows(NereidException.class, () -> models.load("m"));
      assertEquals(ModelState.READY, model.state(), "a failed reload leaves the old one serving");

      write("m", "{");
      assertThrows(NereidException.class, () -> models.load("m"));
      assertEquals(List.of(1L, 0L), nereid.models().stream().map(Model::version).toList());
      write("m", "backend: \"identity\"\n" + TENSORS);
      models.load("m");
      assertEquals(List.of(model), nereid.models(), "what was mended is forgotten");
      assertTrue(model.failure().isEmpty());
    }
  }

  @Test
  void inlineExecutionCanBeTurnedOff() throws IOException {
    String off = "parameters { key: \"nereid.inline\" value { string_value: \"false\" } }\n";
    write("m", "backend: \"identity\"\n" + off + TENSORS);
    try (Nereid nereid = Nereid.open(repository);
        InferRequest request =
            nereid.model("m").newRequest().input("IN", Tensor.ofFloats(new float[4], 4));
        InferResponse response = request.infer()) {
      assertFalse(response.ranInline());
    }
  }

  @Test
  void labelsComeWithTheOutput() {
    try (Nereid nereid = Nereid.open(EXAMPLES)) {
      ModelSpec spec = nereid.model("digits").spec();
      assertEquals(10, spec.outputs().getFirst().labels().size());
      assertEquals("seven", spec.outputs().getFirst().labels().get(7));
    }
  }
}
