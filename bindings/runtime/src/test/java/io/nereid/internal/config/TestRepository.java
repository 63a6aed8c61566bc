package io.nereid.internal.config;

import io.nereid.internal.repository.ModelDirectories;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A model repository that a test writes, in an empty directory. */
final class TestRepository {

  /** The tensors of a model that the identity backend can run. */
  static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  final Path root;
  final List<String> warnings = new ArrayList<>();

  TestRepository(Path root) {
    this.root = root;
  }

  /** Writes a model with these versions; returns its directory. */
  Path model(String name, String config, int... versions) throws IOException {
    Path directory = Files.createDirectories(root.resolve(name));
    Files.writeString(directory.resolve("config.pbtxt"), config);
    for (int version : versions) {
      Files.createDirectories(directory.resolve(Integer.toString(version)));
    }
    return directory;
  }

  List<ModelDraft> read() {
    warnings.clear();
    return readAll(root, warnings::add);
  }

  /** All versions of all models in a repository. */
  static List<ModelDraft> readAll(Path repository, Consumer<String> warnings) {
    return ModelDirectories.find(List.of(repository)).values().stream()
        .map(List::getFirst)
        .map(directory -> ModelReader.read(directory, ReadOptions.DEFAULT, warnings))
        .flatMap(List::stream)
        .toList();
  }

  /** What the only version of the only model is loaded from. */
  ModelSpec spec() {
    return draft().complete(Optional.empty()).spec();
  }

  /** Why the only model is broken. */
  NereidException failure() {
    ModelDraft draft = only();
    try { // models that tell nothing may be what is wrong
      draft.complete(Optional.empty());
    } catch (NereidException e) {
      return e;
    }
    throw new AssertionError("expected a failure, got " + draft);
  }

  /** The only version of the only model, which must be readable. */
  ModelDraft draft() {
    return switch (only()) {
      case ModelDraft.Broken broken -> throw broken.cause();
      case ModelDraft readable -> readable;
    };
  }

  private ModelDraft only() {
    List<ModelDraft> models = read();
    if (models.size() != 1) {
      throw new AssertionError("expected one version, got " + models);
    }
    return models.getFirst();
  }
}
