package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.model.ModelIndexEntry;
import io.nereid.model.RepositoryOptions;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.function.Executable;

/** Writes model repositories, and asks what became of them. */
final class RepositoryFixture {

  static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  static final String IDENTITY = "backend: \"identity\"\n" + TENSORS;

  /** Answers with the negative of what it is given. */
  static final String NEGATING =
      "backend: \"io.nereid.fixtures.NegatingBackend\"\nmax_batch_size: 8\n" + TENSORS;

  static final String BATCHING = "backend: \"identity\"\nmax_batch_size: 8\n" + TENSORS;

  private static final String STEP =
      """
        step {
          model_name: "MODEL"
          model_version: -1
          input_map { key: "IN" value: "FROM" }
          output_map { key: "OUT" value: "TO" }
        }
      """;

  /** Passes IN through models with {@link #TENSORS}, one after another. */
  static String ensemble(String... models) {
    StringBuilder steps = new StringBuilder();
    for (int i = 0; i < models.length; i++) {
      steps.append(
          STEP.replace("MODEL", models[i])
              .replace("FROM", i == 0 ? "IN" : "between" + i)
              .replace("TO", i == models.length - 1 ? "OUT" : "between" + (i + 1)));
    }
    return "platform: \"ensemble\"\nmax_batch_size: 8\n"
        + TENSORS
        + "ensemble_scheduling {\n"
        + steps
        + "}\n";
  }

  private final Path root;

  RepositoryFixture(Path root) {
    this.root = root;
  }

  Path root() {
    return root;
  }

  /** A model with empty version directories; what was there of it goes. */
  Path model(String name, String config, int... versions) throws IOException {
    Path directory = Files.createDirectories(root.resolve(name));
    for (int version : versions) {
      Files.createDirectories(directory.resolve(Integer.toString(version)));
    }
    // As careful operators do it: nobody sees half a file.
    Path written = Files.writeString(root.resolve(".config"), config);
    Files.move(
        written,
        directory.resolve("config.pbtxt"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    return directory;
  }

  void delete(String name) throws IOException {
    try (Stream<Path> paths = Files.walk(root.resolve(name))) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  RepositoryOptions.Builder options() {
    return RepositoryOptions.builder().repository(root);
  }

  /** The index in a line an entry: name, version, state, reason. */
  static List<String> index(Nereid nereid) {
    List<String> lines = new ArrayList<>();
    for (ModelIndexEntry entry : nereid.repository().index()) {
      String version = entry.version().isPresent() ? "/" + entry.version().getAsLong() : "";
      String reason = entry.reason().isEmpty() ? "" : ": " + entry.reason();
      lines.add(entry.name() + version + " " + entry.state() + reason);
    }
    return lines;
  }

  /** The first element that a model of {@link #TENSORS} answers to a first element. */
  static float answer(Model model, float first) {
    float[] values = {first, 0, 0, 0};
    Tensor in =
        model.spec().maxBatchSize() > 0
            ? Tensor.ofFloats(values, 1, 4)
            : Tensor.ofFloats(values, 4);
    try (InferRequest request = model.newRequest().input("IN", in);
        InferResponse response = request.infer()) {
      return response.output("OUT").floatAt(0);
    }
  }

  static NereidException assertFails(StatusCode code, String part, Executable action) {
    NereidException e = assertThrows(NereidException.class, action);
    assertEquals(code, e.code(), e.getMessage());
    assertEquals(true, e.getMessage().contains(part), e.getMessage());
    return e;
  }
}
