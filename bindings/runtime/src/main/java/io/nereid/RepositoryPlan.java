package io.nereid;

import io.nereid.internal.repository.Fingerprint;
import io.nereid.internal.repository.ModelReading;
import io.nereid.internal.repository.OverrideFiles;
import io.nereid.internal.repository.RepositoryModel;
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
 * What was read of one model, to be loaded.
 *
 * @param name the model's key
 * @param directories where repositories have it, normally one
 * @param fingerprints what these looked like just before
 * @param override the configuration that is used in place of the directory's
 * @param files a temporary directory that was read in place of the repository's
 */
record RepositoryPlan(
    String name,
    List<Path> directories,
    List<Fingerprint> fingerprints,
    Optional<ModelOverride> override,
    Optional<OverrideFiles> files,
    ModelReading reading) {

  /** The model cannot be loaded at all. */
  RepositoryPlan failing(StatusCode code, String reason) {
    RepositoryModel broken =
        new RepositoryModel.Broken(ModelId.shown(name), 0, new NereidException(code, reason));
    return new RepositoryPlan(
        name,
        directories,
        fingerprints,
        override,
        files,
        new ModelReading(List.of(broken), reading.readNs(), reading.parseNs()));
  }

  /** Whether both use the same configuration in place of the directory's, or none. */
  boolean hasOverrideOf(RepositoryPlan other) {
    return override.orElse(null) == other.override.orElse(null);
  }

  /** The models that it needs, when it is an ensemble. */
  Set<String> steps() {
    return reading.versions().stream()
        .filter(RepositoryModel.Readable.class::isInstance)
        .map(version -> ((RepositoryModel.Readable) version).draft().opening().ensemble())
        .flatMap(Optional::stream)
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
    return files.isEmpty()
        && !fingerprints.equals(directories.stream().map(Fingerprint::of).toList());
  }
}
