package io.nereid.server.console;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Writes the models that browsers are shown: the bundled ones, a broken one, and hostile names. */
final class ConsoleModels {

  static final Path BUNDLED = Path.of("..", "..", "examples", "models");

  /** Names of folders; the server serves some, and says of others why it does not. */
  static final List<String> HOSTILE =
      List.of(
          "<img src=x onerror=window.harmed=1>",
          "quote\"'s",
          "a&amp;b<textarea><script>window.harmed=1<script>",
          "abc\u202efed",
          "half%2fway",
          "__proto__");

  private ConsoleModels() {}

  /** Copies bundled models, all of them unless they are named. */
  static void copyBundled(Path to, String... names) throws IOException {
    List<String> wanted = List.of(names);
    try (Stream<Path> files = Files.walk(BUNDLED)) {
      for (Path file : files.toList()) {
        Path name = BUNDLED.relativize(file);
        if (wanted.isEmpty() || wanted.contains(name.getName(0).toString())) {
          Path target = to.resolve(name.toString());
          if (Files.isDirectory(file)) {
            Files.createDirectories(target);
          } else {
            Files.copy(file, target);
          }
        }
      }
    }
  }

  /** Writes a model that gives back what it gets, in text. */
  static void echo(Path to, String name) throws IOException {
    write(
        to,
        name,
        """
        backend: "identity"
        max_batch_size: 8
        input [ { name: "INPUT0" data_type: TYPE_STRING dims: [ -1 ] } ]
        output [ { name: "OUTPUT0" data_type: TYPE_STRING dims: [ -1 ] } ]
        """);
  }

  /** Writes a model that takes images of any size, as detectors do, and gives them back. */
  static void picture(Path to, String name) throws IOException {
    write(
        to,
        name,
        """
        backend: "identity"
        input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, 3, -1, -1 ] } ]
        output [ { name: "y" data_type: TYPE_FP32 dims: [ -1, 3, -1, -1 ] } ]
        """);
  }

  /** Writes a model that finds in a picture what its other inputs say: boxes, or a mask. */
  static void finder(Path to, String name, boolean mask) throws IOException {
    String found =
        mask
            ? """
            input [ { name: "mask" data_type: TYPE_INT64 dims: [ 8, 8 ] } ]
            output [ { name: "mask" data_type: TYPE_INT64 dims: [ 8, 8 ] } ]
            """
            : """
            input [ { name: "places" data_type: TYPE_FP32 dims: [ -1, 4 ] },
                    { name: "sure" data_type: TYPE_FP32 dims: [ -1 ] },
                    { name: "kinds" data_type: TYPE_INT64 dims: [ -1 ] } ]
            output [ { name: "boxes" data_type: TYPE_FP32 dims: [ -1, 4 ] },
                     { name: "scores" data_type: TYPE_FP32 dims: [ -1 ] },
                     { name: "labels" data_type: TYPE_INT64 dims: [ -1 ] } ]
            """;
    write(
        to,
        name,
        """
        backend: "identity"
        input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]
        output [ { name: "y" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]
        """
            + found);
  }

  /** Writes a model with the inputs of a language model, which may all be left out. */
  static void tokens(Path to, String name) throws IOException {
    StringBuilder config = new StringBuilder("backend: \"identity\"\nmax_batch_size: 8\n");
    for (String input : List.of("input_ids", "attention_mask", "token_type_ids")) {
      config.append(
          "input [ { name: \"%s\" data_type: TYPE_INT64 dims: [ -1 ] optional: true } ]\n"
              .formatted(input));
    }
    config.append("output [ { name: \"same\" data_type: TYPE_INT64 dims: [ -1 ] } ]\n");
    write(to, name, config.toString());
  }

  /** Writes a model that makes vectors of texts, four at a time. */
  static void minilm(Path to) throws IOException {
    write(to, "minilm", "backend: \"text\"\nmax_batch_size: 4\ndynamic_batching { }\n");
    copyResource("/all-minilm-l6-v2-q.onnx", to.resolve("minilm/1/model.onnx"));
    copyResource("/all-minilm-l6-v2-q-tokenizer.json", to.resolve("minilm/1/tokenizer.json"));
  }

  private static void copyResource(String name, Path to) throws IOException {
    try (InputStream in = ConsoleModels.class.getResourceAsStream(name)) {
      Files.copy(in, to);
    }
  }

  /**
   * Writes a model that gives back one row of what it gets.
   *
   * @param type as configurations call it, such as {@code FP32}
   * @param media what its configuration says that the input is; empty: nothing
   */
  static void row(Path to, String name, String input, String type, String media)
      throws IOException {
    String said =
        media.isEmpty()
            ? ""
            : "parameters { key: \"nereid.media.%s\" value { string_value: \"%s\" } }\n"
                .formatted(input, media);
    write(
        to,
        name,
        """
        backend: "identity"
        input [ { name: "%s" data_type: TYPE_%s dims: [ -1 ] } ]
        output [ { name: "OUTPUT0" data_type: TYPE_%s dims: [ -1 ] } ]
        """
                .formatted(input, type, type)
            + said);
  }

  /** Writes a model that cannot be loaded, because of the second line of its configuration. */
  static void broken(Path to) throws IOException {
    write(to, "broken", "backend: \"identity\"\nmax_batch: 8\n");
  }

  private static void write(Path to, String name, String config) throws IOException {
    Path model = to.resolve(name);
    Files.createDirectories(model.resolve("1"));
    Files.writeString(model.resolve("config.pbtxt"), config);
  }
}
