package io.nereid.internal.repository;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.model.AgentChain;
import io.nereid.internal.model.ModelId;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelOverride;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What was read of one model, and is to be loaded. A plan never changes; it is outdated when the
 * files changed since.
 *
 * @param key what the model is known by
 * @param directories where repositories have it, normally one
 * @param fingerprints what these looked like just before
 * @param override the configuration that is used in place of the directory's
 * @param files a temporary directory that was read in place of the repository's
 * @param agents the repository agents that were told that it is read
 * @param versions each version to serve, or one broken one for the whole model; never empty
 */
record RepositoryPlan(
    String key,
    List<Path> directories,
    List<Fingerprint> fingerprints,
    Optional<ModelOverride> override,
    Optional<OverrideFiles> files,
    AgentChain agents,
    List<ModelDraft> versions) {

  /** The same for a model that cannot be loaded at all. */
  RepositoryPlan failing(StatusCode code, String reason) {
    ModelDraft broken =
        new ModelDraft.Broken(ModelId.shown(key), 0, new NereidException(code, reason));
    return new RepositoryPlan(
        key, directories, fingerprints, override, files, agents, List.of(broken));
  }

  /** Whether both use the same configuration in place of the directory's, or none. */
  boolean hasOverrideOf(RepositoryPlan other) {
    return override.orElse(null) == other.override.orElse(null);
  }

  /** The numbers of the versions; 0 for a model that is broken as a whole. */
  Set<Long> numbers() {
    return versions.stream().map(ModelDraft::version).collect(Collectors.toSet());
  }

  /** The models that it needs, when it is an ensemble. */
  Set<String> steps() {
    return versions.stream()
        .flatMap(version -> version.ensemble().stream())
        .flatMap(ensemble -> ensemble.steps().stream())
        .map(Ensemble.Step::model)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** All directories that it was made of. */
  List<Path> places() {
    return files.map(given -> List.of(given.directory())).orElse(directories);
  }

  /** Whether the directories are no longer what was read. */
  boolean isOutdated() {
    return files.isEmpty() && !fingerprints.equals(Fingerprint.of(directories));
  }
}
