package io.nereid.internal.config;

import io.nereid.model.LoadTimes;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelVersionPolicy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Reads one model's directory: its configuration, the versions to serve, and a draft of each.
 * Several models are read at the same time, each by one thread.
 */
public final class ModelReader {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  /** The most versions that a policy may name: each becomes a model of its own. */
  private static final int MAX_SPECIFIC = 1024;

  private static final String CONFIG = "config.pbtxt";

  /** The directory of the configurations that an option chooses from. */
  private static final String CONFIGS = "configs";

  /** A library that, if present, replaces Triton's way of forming batches. */
  private static final String BATCH_STRATEGY = "batchstrategy.so";

  private final ModelFiles files;
  private final ReadOptions options;
  private final Consumer<String> warnings;

  private ModelReader(ModelFiles files, ReadOptions options, Consumer<String> warnings) {
    this.files = files;
    this.options = options;
    this.warnings = warnings;
  }

  /**
   * Reads a model's directory, or a file that is a whole model: returns each version to serve, or
   * one broken one for the whole model; never empty. The method throws nothing.
   *
   * @param warnings gets a line for each setting that is ignored
   */
  public static List<ModelDraft> read(Path place, ReadOptions options, Consumer<String> warnings) {
    long startNs = System.nanoTime();
    ModelFiles files = ModelFiles.of(place);
    List<ModelDraft> versions;
    try {
      versions = new ModelReader(files, options, warnings).versions();
    } catch (Throwable t) {
      String name = ModelFiles.printable(files.name());
      versions = List.of(new ModelDraft.Broken(name, 0, failure(files, t)));
    }
    Duration read = Duration.ofNanos(files.readNs());
    LoadTimes times =
        LoadTimes.ofReading(read, Duration.ofNanos(System.nanoTime() - startNs).minus(read));
    return versions.stream().map(version -> version.timed(times)).toList();
  }

  /**
   * Turns anything thrown into a failure of this model alone, also exhausted memory or stack, or a
   * missing library.
   */
  private static NereidException failure(ModelFiles files, Throwable t) {
    NereidException failure =
        switch (t) {
          case NereidException e -> e;
          case OutOfMemoryError e ->
              new NereidException(
                  StatusCode.RESOURCE_EXHAUSTED, "there is not enough memory to read the model", e);
          case RuntimeException e ->
              new NereidException(StatusCode.INVALID_ARGUMENT, "the model cannot be read", e);
          default -> new NereidException(StatusCode.INTERNAL, "the model cannot be read", t);
        };
    // Files that came with a load lie in a temporary directory, which messages leave out.
    String message = ModelFiles.printable(files.relative(failure.getMessage()));
    if (message.equals(failure.getMessage())) {
      return failure;
    }
    NereidException clean = new NereidException(failure.code(), message);
    clean.initCause(failure);
    return clean;
  }

  private List<ModelDraft> versions() {
    ModelFiles.checkName(files.name());
    NavigableSet<Long> there = files.versions();
    ConfigNode root = config(there);
    checkName(root);
    Path location = location(root);
    if (!location.equals(files.directory())) {
      ModelFiles moved = new ModelFiles(location, files.name());
      return new ModelReader(moved, options.withAgents(ReadOptions.Agents.NONE), warnings)
          .versions();
    }
    NavigableSet<Long> versions = new TreeSet<>(selectVersions(files.name(), root, there));
    versions.addAll(
        ParameterReader.shadowVersions(
            ParameterReader.withOptions(root, options, files.name()), there));
    FieldRules.check(root, backend(root, versions.last()), warnings);
    List<ModelDraft> models = new ArrayList<>();
    for (long version : versions) {
      models.add(version(root, version));
    }
    return models;
  }

  /** Returns the directory of the model that its repository agents name, or else its own. */
  private Path location(ConfigNode root) {
    ModelConfig config = root.as(ModelConfig.class);
    if (config.getModelRepositoryAgents().getAgentsCount() == 0) {
      return files.directory();
    }
    List<ReadOptions.Agent> agents =
        config.getModelRepositoryAgents().getAgentsList().stream()
            .map(agent -> new ReadOptions.Agent(agent.getName(), agent.getParametersMap()))
            .toList();
    return options.agents().locate(files.name(), this::configurationAt, files.directory(), agents);
  }

  /** The configuration for a repository agent; empty if the agent before it left none. */
  private String configurationAt(Path location) {
    ModelConfig found;
    try {
      ModelFiles there =
          location.equals(files.directory()) ? files : new ModelFiles(location, files.name());
      ConfigNode root = new ModelReader(there, options, warnings).config(there.versions());
      found = root.as(ModelConfig.class);
    } catch (NereidException e) {
      found = ModelConfig.getDefaultInstance();
    }
    return JsonConfigWriter.write(found);
  }

  /**
   * Returns the backend, for warnings; if there is none, reading each version fails with the
   * reason.
   */
  private BackendNames.Found backend(ConfigNode root, long version) {
    try {
      return BackendNames.find(root, files, options.plugins(), version);
    } catch (NereidException e) {
      return new BackendNames.Found("", false);
    }
  }

  private ConfigNode config(NavigableSet<Long> versions) {
    if (options.override().isPresent()) {
      String shown = files.name() + ": the load's config";
      return naming(JsonConfigReader.read(options.override().get(), shown));
    }
    if (files.file().isPresent()) {
      if (!options.autoComplete()) {
        throw untold(files.file().get());
      }
      return naming(
          ConfigNode.root(
              ModelConfig.getDefaultInstance(), new ConfigSource.Text(files.file().get())));
    }
    Path file = configFile();
    String shown = files.shown(file);
    if (Files.notExists(file)) {
      return withoutFile(shown, versions);
    }
    return ConfigNode.parse(files.readText(file, ConfigNode.MAX_BYTES), shown);
  }

  /** Returns the configuration with the name of the model's file, if the model is a file. */
  private ConfigNode naming(ConfigNode root) {
    ModelConfig config = root.as(ModelConfig.class);
    return files.file().isEmpty()
        ? root
        : root.withMessage(config.toBuilder().setDefaultModelFilename(files.file().get()).build());
  }

  private static NereidException untold(String file) {
    return new NereidException(
        StatusCode.NOT_FOUND, file + " has no configuration beside it, and auto-completion is off");
  }

  /** The chosen configuration file, if the model has it; else {@code config.pbtxt}. */
  private Path configFile() {
    if (!options.configName().isEmpty()) {
      Path chosen = files.directory().resolve(CONFIGS).resolve(options.configName() + ".pbtxt");
      if (Files.exists(chosen)) {
        return chosen;
      }
    }
    return files.directory().resolve(CONFIG);
  }

  private ConfigNode withoutFile(String shown, NavigableSet<Long> versions) {
    boolean told = versions.stream().map(files::version).anyMatch(BackendNames::isTold);
    if (!options.autoComplete() || !told) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "there is no "
              + shown
              + ", which must say what the model's inputs and outputs are, "
              + (options.autoComplete()
                  ? "and no version with a model.onnx, model.plan, model.py or the like that tells"
                      + " it"
                  : "and auto-completion is off"));
    }
    return ConfigNode.root(
        ModelConfig.getDefaultInstance(),
        new ConfigSource.Text(files.name() + ", which has no " + CONFIG));
  }

  private void checkName(ConfigNode root) {
    String name = root.as(ModelConfig.class).getName();
    if (!name.isEmpty() && !name.equals(files.name())) {
      throw root.invalid(
          ModelConfig.NAME_FIELD_NUMBER,
          "expected name: \"" + files.name() + "\", as the directory, got \"" + name + "\"");
    }
  }

  private ModelDraft version(ConfigNode root, long version) {
    try {
      for (Path directory : List.of(files.directory(), files.version(version))) {
        if (Files.exists(directory.resolve(BATCH_STRATEGY))) {
          throw new NereidException(
              StatusCode.UNIMPLEMENTED,
              BATCH_STRATEGY + " is there: custom batching libraries are not supported");
        }
      }
      return ModelDraft.of(root, files, options, version);
    } catch (Throwable t) {
      return new ModelDraft.Broken(files.name(), version, failure(files, t));
    }
  }

  // ---- Which versions are served ---------------------------------------------------------------

  /**
   * The versions to serve, ascending and at least one. A version that the configuration asks for by
   * its number and that has no directory is logged, and left out.
   */
  private static NavigableSet<Long> selectVersions(
      String model, ConfigNode root, NavigableSet<Long> there) {
    ModelConfig config = root.as(ModelConfig.class);
    ModelVersionPolicy policy = config.getVersionPolicy();
    NavigableSet<Long> selected =
        switch (policy.getPolicyChoiceCase()) {
          case ALL -> there;
          case SPECIFIC ->
              present(model, specific(root, policy.getSpecific().getVersionsList()), there);
          case LATEST -> latest(there, policy.getLatest().getNumVersions());
          case POLICYCHOICE_NOT_SET -> latest(there, 1);
        };
    if (selected.isEmpty()) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "at least one version must be available under the version policy of model '"
              + model
              + "': expected a directory with a number for a name, such as 1, beside config.pbtxt");
    }
    return selected;
  }

  /** The field is unsigned; 0 means 1. */
  private static NavigableSet<Long> latest(NavigableSet<Long> there, int count) {
    long most = Math.max(1, Integer.toUnsignedLong(count));
    TreeSet<Long> latest = new TreeSet<>();
    there.descendingSet().stream().limit(most).forEach(latest::add);
    return latest;
  }

  private static NavigableSet<Long> present(
      String model, NavigableSet<Long> asked, NavigableSet<Long> there) {
    TreeSet<Long> present = new TreeSet<>();
    for (long version : asked) {
      if (there.contains(version)) {
        present.add(version);
      } else {
        LOGGER.log(
            Level.ERROR,
            "version %s is specified for model '%s', but the version directory is not present"
                .formatted(version, model));
      }
    }
    return present;
  }

  private static NavigableSet<Long> specific(ConfigNode root, Collection<Long> versions) {
    if (versions.size() > MAX_SPECIFIC) {
      throw root.invalid(
          ModelConfig.VERSION_POLICY_FIELD_NUMBER,
          "version_policy: expected at most %s specific versions, got %s"
              .formatted(MAX_SPECIFIC, versions.size()));
    }
    for (long version : versions) {
      if (version <= 0) {
        throw root.invalid(
            ModelConfig.VERSION_POLICY_FIELD_NUMBER,
            "version_policy: expected versions from 1 on, got " + version);
      }
    }
    return new TreeSet<>(versions);
  }
}
