package io.nereid;

import io.nereid.internal.repository.Fingerprint;
import io.nereid.internal.repository.OverrideFiles;
import io.nereid.internal.repository.RepositoryModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * One model of the repositories: brings what is loaded of it in line with what was read. One thread
 * at a time loads or unloads it.
 */
final class RepositoryEntry {

  private final Nereid nereid;
  private final ModelTable models;
  private final String name;
  private final ReentrantLock lock = new ReentrantLock();

  /** What it was loaded from last, whether that worked or not; null: nothing. Guarded by lock. */
  private RepositoryPlan loaded;

  /** Temporary directories that loaded versions may still need. Guarded by lock. */
  private final List<OverrideFiles> files = new ArrayList<>();

  RepositoryEntry(Nereid nereid, ModelTable models, String name) {
    this.nereid = nereid;
    this.models = models;
    this.name = name;
  }

  /** Whether directories that look like this are those that it was loaded from last. */
  boolean isLoadedFrom(List<Fingerprint> fingerprints) {
    lock.lock();
    try {
      return loaded != null
          && loaded.override().isEmpty()
          && loaded.fingerprints().equals(fingerprints);
    } finally {
      lock.unlock();
    }
  }

  boolean isLoaded() {
    lock.lock();
    try {
      return loaded != null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Loads the versions that were read, and unloads others when that worked. Does nothing when they
   * are loaded and nothing has changed.
   *
   * @return what went wrong, a line each
   */
  List<String> load(RepositoryPlan plan) {
    lock.lock();
    try {
      if (isUnchanged(plan)) {
        plan.files().ifPresent(OverrideFiles::close);
        return List.of();
      }
      plan.files().ifPresent(files::add);
      List<String> failures = new ArrayList<>();
      for (RepositoryModel version : plan.reading().versions()) {
        load(plan, version).ifPresent(failures::add);
      }
      loaded = plan;
      if (failures.isEmpty()) {
        leaveOthers(versions(plan));
        closeFiles(plan.files());
      }
      return failures;
    } finally {
      lock.unlock();
    }
  }

  private boolean isUnchanged(RepositoryPlan plan) {
    return loaded != null
        && loaded.fingerprints().equals(plan.fingerprints())
        && loaded.override().isEmpty()
        && plan.override().isEmpty()
        && versions(plan).stream()
            .allMatch(version -> models.entry(nereid, name, version).state() == ModelState.READY);
  }

  private static Set<Long> versions(RepositoryPlan plan) {
    return plan.reading().versions().stream()
        .map(RepositoryModel::version)
        .collect(Collectors.toSet());
  }

  private Optional<String> load(RepositoryPlan plan, RepositoryModel version) {
    Model model = models.entry(nereid, name, version.version());
    try {
      switch (version) {
        case RepositoryModel.Broken broken -> model.fail(explain(plan, broken.cause()));
        case RepositoryModel.Readable readable -> {
          models.dropWhole(name);
          nereid.load(
              model,
              new ModelOrigin.Directory(
                  readable.draft(), plan.reading().readNs(), plan.reading().parseNs()));
        }
      }
    } catch (RuntimeException e) {
      nereid.checkOpen();
      if (plan.isOutdated()) {
        model.explain(explain(plan, e));
      }
    }
    return model
        .failure()
        .map(reason ->
            (version.version() == 0
                    ? ""
                    : "version " + version.version() + " is at UNAVAILABLE state: ")
                + reason
                + ";");
  }

  /** What fails while files are being written will work when they are there. */
  private static RuntimeException explain(RepositoryPlan plan, RuntimeException cause) {
    if (!plan.isOutdated()) {
      return cause;
    }
    StatusCode code = cause instanceof NereidException e ? e.code() : StatusCode.UNAVAILABLE;
    return new NereidException(
        code, "the model's directory changed while it was being read", cause);
  }

  private void leaveOthers(Set<Long> versions) {
    for (Model model : models.versions(name)) {
      if (!versions.contains(model.version())) {
        model.unload();
      }
    }
    if (!versions.contains(0L)) {
      models.dropWhole(name);
    }
  }

  private void closeFiles(Optional<OverrideFiles> kept) {
    files.stream().filter(one -> kept.isEmpty() || kept.get() != one).forEach(OverrideFiles::close);
    files.clear();
    kept.ifPresent(files::add);
  }

  /** Unloads all versions; false when there was nothing to unload. */
  boolean unload() {
    lock.lock();
    try {
      boolean was = loaded != null;
      loaded = null;
      leaveOthers(Set.of());
      closeFiles(Optional.empty());
      return was;
    } finally {
      lock.unlock();
    }
  }

  /** Deletes temporary files; the models have been unloaded. */
  void close() {
    lock.lock();
    try {
      closeFiles(Optional.empty());
    } finally {
      lock.unlock();
    }
  }
}
