package io.nereid;

import io.nereid.internal.repository.Fingerprint;
import io.nereid.internal.repository.ModelDraft;
import io.nereid.internal.repository.ModelReading;
import io.nereid.internal.repository.OverrideFiles;
import io.nereid.internal.repository.RepositoryModel;
import io.nereid.internal.repository.ServerPaths;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * One model of the repositories: brings what is loaded of it in line with what was read. One thread
 * at a time loads or unloads it.
 */
final class RepositoryEntry {

  /** Triton's words, which scripts look for. */
  private static final String WHOLE_FAILED =
      "failed to load '%s', failed to poll from model repository: ";

  private static final String VERSIONS_FAILED =
      "failed to load '%1$s', load failed for model '%1$s': ";

  private final Nereid nereid;
  private final ModelTable models;
  private final ModelId id;
  private final Supplier<List<Path>> directories;
  private final ReentrantLock lock = new ReentrantLock();

  /** What it was loaded from last, whether that worked or not; null: nothing. Guarded by lock. */
  private RepositoryPlan loaded;

  /** Whether all of it could be loaded. Guarded by lock. */
  private boolean complete;

  /** What it was loaded from when that last worked; null: nothing is loaded. Guarded by lock. */
  private RepositoryPlan served;

  /** Temporary directories that loaded versions may still need. Guarded by lock. */
  private final Set<OverrideFiles> files = new HashSet<>();

  /** The directories are where repositories have the model now. */
  RepositoryEntry(Nereid nereid, ModelTable models, ModelId id, Supplier<List<Path>> directories) {
    this.nereid = nereid;
    this.models = models;
    this.id = id;
    this.directories = directories;
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

  /**
   * What it is served from, when that is an override, and directories that look like this are those
   * that it was given for.
   */
  Optional<RepositoryPlan> override(List<Fingerprint> fingerprints) {
    lock.lock();
    try {
      return Optional.ofNullable(served)
          .filter(plan -> plan.override().isPresent() && plan.fingerprints().equals(fingerprints));
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

  /** Whether a plan is what is loaded already. */
  boolean isUnchanged(RepositoryPlan plan) {
    lock.lock();
    try {
      return complete
          && loaded.fingerprints().equals(plan.fingerprints())
          && loaded.hasOverrideOf(plan)
          && versions(plan).stream()
              .allMatch(version -> models.entry(nereid, id, version).state() == ModelState.READY);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Loads the versions that were read, and unloads others when that worked. Does nothing when they
   * are loaded and nothing has changed.
   *
   * @param again reads once more, for a plan that had to wait while the files were changed
   * @return what went wrong; empty: nothing did
   */
  Optional<String> load(RepositoryPlan plan, Supplier<RepositoryPlan> again) {
    lock.lock();
    try {
      nereid.checkOpen();
      return apply(plan.isOutdated() ? again.get() : plan);
    } catch (RuntimeException e) {
      plan.files().filter(given -> !files.contains(given)).ifPresent(OverrideFiles::close);
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private Optional<String> apply(RepositoryPlan plan) {
    if (isUnchanged(plan)) {
      return Optional.empty();
    }
    plan.files().ifPresent(files::add);
    List<String> failures = new ArrayList<>();
    for (RepositoryModel version : plan.reading().versions()) {
      if (version.version() != 0) {
        models.dropWhole(id);
      }
      load(plan, version).ifPresent(failures::add);
    }
    loaded = plan;
    complete = failures.isEmpty();
    if (!complete) {
      String what = versions(plan).contains(0L) ? WHOLE_FAILED : VERSIONS_FAILED;
      return Optional.of(what.formatted(id.name()) + String.join(" ", failures));
    }
    served = plan;
    leaveOthers(versions(plan));
    closeFiles(plan.files());
    return Optional.empty();
  }

  private static Set<Long> versions(RepositoryPlan plan) {
    return plan.reading().versions().stream()
        .map(RepositoryModel::version)
        .collect(Collectors.toSet());
  }

  /** Why a version was not loaded; empty when it was. */
  private Optional<String> load(RepositoryPlan plan, RepositoryModel version) {
    Model model = models.entry(nereid, id, version.version());
    RuntimeException failure;
    try {
      if (version instanceof RepositoryModel.Readable(ModelDraft draft)) {
        ModelReading reading = plan.reading();
        load(model, new ModelOrigin.Directory(draft, reading.readNs(), reading.parseNs()));
        return Optional.empty();
      }
      RuntimeException cause = ((RepositoryModel.Broken) version).cause();
      failure = explain(plan, cause);
      model.fail(cause); // which tells the log of it
    } catch (RuntimeException e) {
      nereid.checkOpen();
      failure = explain(plan, e);
    }
    model.explain(failure);
    String reason = Model.reason(failure);
    return Optional.of(
        version.version() == 0
            ? reason
            : "version " + version.version() + " is at UNAVAILABLE state: " + reason + ";");
  }

  /** As often as it may be tried. */
  private void load(Model model, ModelOrigin origin) {
    for (int left = nereid.repository().options().loadRetryCount(); left > 0; left--) {
      try {
        nereid.load(model, origin);
        return;
      } catch (RuntimeException e) { // the listeners have heard of it
        nereid.checkOpen();
      }
    }
    nereid.load(model, origin);
  }

  /**
   * A failure as clients are told it: without the paths of this machine. What fails while files are
   * being written will work when they are there.
   */
  private static RuntimeException explain(RepositoryPlan plan, RuntimeException cause) {
    String outdated =
        plan.isOutdated() ? "the model's directory changed while it was being read: " : "";
    String message = outdated + ServerPaths.hide(Model.reason(cause), plan.places());
    if (message.equals(cause.getMessage())) {
      return cause;
    }
    StatusCode code = cause instanceof NereidException e ? e.code() : StatusCode.UNAVAILABLE;
    NereidException told = new NereidException(code, message);
    told.initCause(cause);
    return told;
  }

  private void leaveOthers(Set<Long> versions) {
    for (Model model : models.versions(id.key())) {
      if (!versions.contains(model.version())) {
        model.unload();
        if (!isThere(model.version())) {
          models.drop(id, model.version());
        }
      }
    }
    if (!versions.contains(0L)) {
      models.dropWhole(id);
    }
  }

  /** Whether a repository still has a version. */
  private boolean isThere(long version) {
    return directories.get().stream()
        .anyMatch(directory -> Files.isDirectory(directory.resolve(Long.toString(version))));
  }

  private void closeFiles(Optional<OverrideFiles> kept) {
    files.stream().filter(one -> kept.isEmpty() || kept.get() != one).forEach(OverrideFiles::close);
    files.clear();
    kept.ifPresent(files::add);
  }

  /** Unloads all versions. */
  void unload() {
    lock.lock();
    try {
      loaded = null;
      served = null;
      complete = false;
      leaveOthers(Set.of());
      closeFiles(Optional.empty());
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
