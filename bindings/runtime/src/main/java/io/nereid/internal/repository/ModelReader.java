package io.nereid.internal.repository;

import io.nereid.ModelConfiguration;
import io.nereid.ModelSignature;
import io.nereid.ModelSpec;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.proto.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads one model's directory. */
public final class ModelReader {

  private static final String CONFIG = "config.pbtxt";

  /** A library that replaces Triton's way of forming batches when it lies there. */
  private static final String BATCH_STRATEGY = "batchstrategy.so";

  private final ModelFiles files;
  private final Consumer<String> warnings;

  private ModelReader(Path directory, Consumer<String> warnings) {
    files = new ModelFiles(directory);
    this.warnings = warnings;
  }

  /** Each version to serve, or one broken one for the whole model; never empty. */
  public static ModelReading read(Path directory, ReadOptions options, Consumer<String> warnings) {
    ModelReader reader = new ModelReader(directory, warnings);
    try {
      return new ModelReading(reader.versions(), 0, 0);
    } catch (RuntimeException e) {
      String name = ModelFiles.printable(reader.files.name());
      return new ModelReading(List.of(new RepositoryModel.Broken(name, 0, failure(e))), 0, 0);
    }
  }

  /** Whatever files may contain, what is wrong is the model's failure and nobody else's. */
  private static NereidException failure(RuntimeException e) {
    if (!(e instanceof NereidException failure)) {
      return new NereidException(StatusCode.INVALID_ARGUMENT, "the model cannot be read", e);
    }
    String message = ModelFiles.printable(failure.getMessage());
    if (message.equals(failure.getMessage())) {
      return failure;
    }
    NereidException clean = new NereidException(failure.code(), message);
    clean.initCause(failure);
    return clean;
  }

  private List<RepositoryModel> versions() {
    ModelFiles.checkName(files.name());
    ConfigNode root = config();
    FieldRules.check(root, warnings);
    NavigableSet<Long> versions = VersionPolicy.select(root, files.versions());
    SpecReader reader = new SpecReader(root, files);
    List<RepositoryModel> models = new ArrayList<>();
    for (long version : versions) {
      models.add(version(reader, root, version));
    }
    return models;
  }

  private ConfigNode config() {
    Path file = files.directory().resolve(CONFIG);
    String shown = files.name() + "/" + CONFIG;
    if (Files.notExists(file)) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "there is no " + shown + ", which must say what the model's inputs and outputs are");
    }
    ConfigNode root = ConfigFile.read(file, shown);
    String name = root.as(ModelConfig.class).getName();
    if (!name.isEmpty() && !name.equals(files.name())) {
      throw root.invalid(
          ModelConfig.NAME_FIELD_NUMBER,
          "expected name: \"" + files.name() + "\", as the directory, got \"" + name + "\"");
    }
    return root;
  }

  private RepositoryModel version(SpecReader reader, ConfigNode root, long version) {
    try {
      if (!Files.isDirectory(files.version(version))) {
        throw new NereidException(
            StatusCode.NOT_FOUND,
            "there is no directory "
                + files.name()
                + "/"
                + version
                + ", although version_policy names it");
      }
      for (Path directory : List.of(files.directory(), files.version(version))) {
        if (Files.exists(directory.resolve(BATCH_STRATEGY))) {
          throw new NereidException(
              StatusCode.UNIMPLEMENTED,
              BATCH_STRATEGY + " is there: custom batching libraries are not supported");
        }
      }
      return new RepositoryModel.Readable(new WholeDraft(reader.read(version), root));
    } catch (RuntimeException e) {
      return new RepositoryModel.Broken(files.name(), version, failure(e));
    }
  }

  private record WholeDraft(ModelSpec opening, ConfigNode root) implements ModelDraft {
    @Override
    public String name() {
      return opening.name();
    }

    @Override
    public long version() {
      return opening.version();
    }

    @Override
    public boolean needsSignature() {
      return false;
    }

    @Override
    public CompletedModel complete(Optional<ModelSignature> signature) {
      return new CompletedModel(
          opening, new ModelConfiguration(root.as(ModelConfig.class), List.of()));
    }
  }
}
