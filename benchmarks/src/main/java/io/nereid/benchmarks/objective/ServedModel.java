package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A model that is measured.
 *
 * @param objectiveMs in how long it is to answer
 * @param configuration what {@code config.pbtxt} says of it, whatever the setting
 * @param file its file's content; empty: it has none
 * @param requests what the load generator is told of its requests
 */
record ServedModel(
    String name,
    int objectiveMs,
    int maxBatchSize,
    String configuration,
    Optional<Content> file,
    List<String> requests) {

  /** The content of a model's file. */
  interface Content {
    byte[] read() throws IOException;
  }

  private static Optional<Content> file(Path path) {
    return Optional.of(() -> Files.readAllBytes(path));
  }

  /** The models that can be served here; {@code project} is the top of the source tree. */
  static List<ServedModel> all(Path project) {
    List<ServedModel> all = new ArrayList<>();
    // Takes the same time for any batch, as a GPU does for small ones, and no processor.
    all.add(
        new ServedModel(
            "flat",
            40,
            16,
            """
            backend: "identity"
            max_batch_size: 16
            input { name: "IN" data_type: TYPE_FP32 dims: 64 }
            output { name: "OUT" data_type: TYPE_FP32 dims: 64 }
            parameters { key: "execute_delay_ms" value { string_value: "8" } }
            parameters { key: "nereid.inline" value { string_value: "false" } }
            """,
            Optional.empty(),
            List.of()));
    all.add(
        new ServedModel(
            "mlp",
            50,
            32,
            "backend: \"onnxruntime\"\nmax_batch_size: 32\n",
            Optional.of(() -> Mlp.onnx(1536, 4)),
            List.of()));
    // Costs next to nothing: what is measured is the way there.
    all.add(
        new ServedModel(
            "digits",
            10,
            64,
            "backend: \"onnxruntime\"\nmax_batch_size: 64\n",
            file(project.resolve("examples/models/digits/1/model.onnx")),
            List.of()));
    Path minilm = project.resolve("build/peers/models/all-minilm-l6-v2-q.onnx");
    if (Files.exists(minilm)) {
      all.add(
          new ServedModel(
              "minilm",
              100,
              16,
              "backend: \"onnxruntime\"\nmax_batch_size: 16\n",
              file(minilm),
              List.of(
                  "--shape=input_ids:16",
                  "--shape=attention_mask:16",
                  "--shape=token_type_ids:16",
                  "--random-range=1:1")));
    }
    Path detector = project.resolve("build/peers/models/ch_PP-OCRv4_det_infer.onnx");
    if (Files.exists(detector)) {
      all.add(
          new ServedModel(
              "detector",
              300,
              4,
              "backend: \"onnxruntime\"\nmax_batch_size: 4\n",
              file(detector),
              List.of("--shape=x:3,320,320")));
    }
    return all;
  }

  /** Puts it into a repository, once for each setting. */
  void write(Path repository) throws IOException {
    for (Setting setting : Setting.all(this)) {
      Path version = Files.createDirectories(repository.resolve(setting.name()).resolve("1"));
      if (file.isPresent()) {
        Files.write(version.resolve("model.onnx"), file.get().read());
      }
      Files.writeString(
          version.resolveSibling("config.pbtxt"), configuration + setting.configuration());
    }
  }
}
