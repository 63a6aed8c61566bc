package io.nereid.internal.repository;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.config.ModelReader;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.model.AgentChain;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelLoader;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelOverride;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.Names;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The plan of a load: all that was read of one model. A plan never changes; it is outdated if the
 * files have changed since.
 *
 * @param key the key that the model is known by
 * @param directories the model's directories in the repositories, normally one
 * @param fingerprints those of the directories just before they were read
 * @param override the configuration that is used in place of the directory's
 * @param files a temporary directory that was read in place of the repository's
 * @param agents the repository agents that were told that it is read
 * @param versions a draft for each version to serve, or one broken draft for the whole model; never
 *     empty
 */
record RepositoryPlan(
    String key,
    List<Path> directories,
    List<Fingerprint> fingerprints,
    Optional<ModelOverride> override,
    Optional<OverrideFiles> files,
    AgentChain agents,
    List<ModelDraft> versions) {

  /** Returns this plan with the model broken as a whole. */
  RepositoryPlan failing(StatusCode code, String reason) {
    ModelDraft broken =
        new ModelDraft.Broken(ModelId.shown(key), 0, new NereidException(code, reason));
    return new RepositoryPlan(
        key, directories, fingerprints, override, files, agents, List.of(broken));
  }

  /** True if both use the same configuration in place of the directory's, or none. */
  boolean hasOverrideOf(RepositoryPlan other) {
    return override.orElse(null) == other.override.orElse(null);
  }

  /** The numbers of the versions; 0 for a model that is broken as a whole. */
  Set<Long> numbers() {
    return versions.stream().map(ModelDraft::version).collect(Collectors.toSet());
  }

  /** The models that an ensemble needs; none for other models. */
  Set<String> steps() {
    return versions.stream()
        .flatMap(version -> version.ensemble().stream())
        .flatMap(ensemble -> ensemble.steps().stream())
        .map(Ensemble.Step::model)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** True if a plug-in, which may read files at any time, runs the model. */
  boolean isOfPlugin() {
    return versions.stream().anyMatch(PluginDraft.class::isInstance);
  }

  /** All directories that were read for the plan. */
  List<Path> places() {
    return files.map(given -> List.of(given.directory())).orElse(directories);
  }

  /** True if the directories have changed since they were read. */
  boolean isOutdated() {
    return files.isEmpty() && !fingerprints.equals(Fingerprint.of(directories));
  }

  /** Reads models of the repositories into plans for loading them. Any thread may call. */
  static final class Reader {

    private static final Logger LOGGER = System.getLogger("io.nereid");

    /**
     * The most times that a directory is read while somebody writes into it, with a pause in
     * between.
     */
    private static final int MAX_READS = 3;

    private static final long PAUSE_MS = 50;

    private final RepositoryOptions options;
    private final ModelDirectories names;
    private final ModelLoader loader;

    Reader(RepositoryOptions options, ModelDirectories names, ModelLoader loader) {
      this.options = options;
      this.names = names;
      this.loader = loader;
    }

    /**
     * Reads a model.
     *
     * @param override the override that comes with the load
     * @param kept the model's current plan, if that is an override that still holds
     */
    RepositoryPlan read(
        String key,
        List<Path> directories,
        Optional<ModelOverride> override,
        Optional<RepositoryPlan> kept) {
      if (override.isPresent() && !override.get().files().isEmpty()) {
        checkUnsigned(key);
        OverrideFiles files = OverrideFiles.write(key, override.get().files());
        // The files are on the disk now, so their content in memory is dropped.
        ModelOverride config = ModelOverride.ofConfig(override.get().config());
        return readFiles(key, directories, config, files);
      }
      if (kept.flatMap(RepositoryPlan::files).isPresent()) {
        return readFiles(
            key,
            directories,
            kept.get().override().orElseThrow(),
            kept.get().files().orElseThrow());
      }
      return readDirectories(
          key, directories, override.or(() -> kept.flatMap(RepositoryPlan::override)));
    }

    private void checkUnsigned(String key) {
      if (options.store().requiresSignature()) {
        throw new NereidException(
            StatusCode.PERMISSION_DENIED,
            "files came with the load of model '"
                + ModelId.shown(key)
                + "', but models must be"
                + " signed");
      }
    }

    /** Reads the directories of a plan once more. */
    RepositoryPlan again(RepositoryPlan plan) {
      return readDirectories(plan.key(), plan.directories(), plan.override());
    }

    private RepositoryPlan readFiles(
        String key, List<Path> directories, ModelOverride override, OverrideFiles files) {
      List<Fingerprint> before = Fingerprint.of(directories);
      AgentChain agents = loader.newAgents();
      List<ModelDraft> versions =
          read(files.directory(), Optional.of(override), agents).stream()
              .map(loader::ofClient)
              .toList();
      return new RepositoryPlan(
          key, directories, before, Optional.of(override), Optional.of(files), agents, versions);
    }

    private RepositoryPlan readDirectories(
        String key, List<Path> directories, Optional<ModelOverride> override) {
      RepositoryPlan plan = null;
      Optional<NereidException> unfetched = fetch(directories);
      for (int i = 0; i < MAX_READS; i++) {
        List<Fingerprint> before = Fingerprint.of(directories);
        AgentChain agents = loader.newAgents();
        List<ModelDraft> versions =
            directories.size() != 1
                ? List.of(unusable(key, directories))
                : unfetched
                    .map(cause -> broken(key, cause))
                    .orElseGet(() -> open(key, directories.getFirst(), override, agents));
        plan =
            new RepositoryPlan(
                key, directories, before, override, Optional.empty(), agents, versions);
        if (!plan.isOutdated() || i == MAX_READS - 1) {
          break;
        }
        agents.close();
        pause();
      }
      return plan;
    }

    private Optional<NereidException> fetch(List<Path> directories) {
      try {
        directories.forEach(options.store()::fetch);
        return Optional.empty();
      } catch (NereidException e) {
        return Optional.of(e);
      }
    }

    private List<ModelDraft> broken(String key, NereidException cause) {
      return List.of(new ModelDraft.Broken(names.id(key).name(), 0, cause));
    }

    /** Reads a model from the place where its store opens it. */
    private List<ModelDraft> open(
        String key, Path directory, Optional<ModelOverride> override, AgentChain agents) {
      try {
        return read(agents.open(options.store(), directory), override, agents);
      } catch (NereidException e) {
        return broken(key, e);
      }
    }

    private List<ModelDraft> read(
        Path directory, Optional<ModelOverride> override, AgentChain agents) {
      ReadOptions how =
          ReadOptions.of(
              options,
              names::step,
              loader::isOfPlugin,
              agents,
              override.map(ModelOverride::config));
      return ModelReader.read(directory, how, this::warn);
    }

    private ModelDraft unusable(String key, List<Path> directories) {
      String name = names.id(key).name();
      NereidException cause;
      try {
        ModelFiles.checkName(name);
        cause = directories.isEmpty() ? missing(name) : repeated(name, directories);
      } catch (NereidException e) {
        cause = e;
      }
      return new ModelDraft.Broken(name, 0, cause);
    }

    private NereidException missing(String name) {
      warn("there is no model '" + name + "' in " + options.repositories());
      return new NereidException(
          StatusCode.NOT_FOUND,
          "there is no model '%s' in the repositories%s"
              .formatted(name, Names.hint("there is", name, names.find().keySet())));
    }

    /** Clients get Triton's words; the log names the repositories for the operator. */
    private NereidException repeated(String name, List<Path> directories) {
      warn("model '" + name + "' must be in one repository only, it is in " + directories);
      return new NereidException(
          StatusCode.INVALID_ARGUMENT, "model appears in two or more repositories");
    }

    /** Logs a line, with the addresses of repositories in object stores in place of directories. */
    private void warn(String line) {
      String text = line;
      List<Path> stored = options.store().repositories();
      for (int i = 0; i < stored.size(); i++) {
        String address = options.store().status().get(i).repository();
        text = text.replace(stored.get(i).toString(), address);
      }
      LOGGER.log(Level.WARNING, text);
    }

    private static void pause() {
      try {
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
