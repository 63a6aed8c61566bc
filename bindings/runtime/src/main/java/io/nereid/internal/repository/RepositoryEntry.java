package io.nereid.internal.repository;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.model.AgentChain;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.model.ModelTable;
import io.nereid.model.ModelFile;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One model of the repositories, with all its versions: brings what is loaded in line with a plan.
 * Any thread may call; one at a time loads or unloads the model, and the others wait.
 */
public final class RepositoryEntry {

  /**
   * The failure to load a model.
   *
   * @param message for clients
   * @param unread true: the model could not even be read; false: some of its versions could not be
   *     loaded
   */
  public record Failure(String message, boolean unread) {}

  /** Triton's words, which scripts look for. */
  private static final String WHOLE_FAILED =
      "failed to load '%s', failed to poll from model repository: ";

  private static final String VERSIONS_FAILED =
      "failed to load '%1$s', load failed for model '%1$s': ";

  private final ModelLifecycle lifecycle;
  private final ModelTable models;
  private final ModelDirectories names;
  private final ModelId id;
  private final RepositoryPlan.Reader reader;
  private final int retryCount;
  private final ReentrantLock lock = new ReentrantLock();

  /** The plan that the model was loaded from last, whether that worked or not; null: none. */
  @GuardedBy("lock")
  private RepositoryPlan loaded;

  /** True if all versions could be loaded. */
  @GuardedBy("lock")
  private boolean complete;

  /** The plan of the last load that worked; null: nothing is loaded. */
  @GuardedBy("lock")
  private RepositoryPlan served;

  /** The repository agents of that load; null: nothing is loaded. */
  @GuardedBy("lock")
  private AgentChain agents;

  /** Temporary directories that loaded versions may still need. */
  @GuardedBy("lock")
  private final Set<OverrideFiles> files = new HashSet<>();

  /** The temporary directory that each loaded version was read from, if any. */
  @GuardedBy("lock")
  private final Map<Long, OverrideFiles> used = new HashMap<>();

  RepositoryEntry(
      ModelLifecycle lifecycle,
      ModelTable models,
      ModelDirectories names,
      ModelId id,
      RepositoryPlan.Reader reader,
      RepositoryOptions options) {
    this.lifecycle = lifecycle;
    this.models = models;
    this.names = names;
    this.id = id;
    this.reader = reader;
    retryCount = options.loadRetryCount();
  }

  /** True if the last load read directories with these fingerprints. */
  public boolean isLoadedFrom(List<Fingerprint> fingerprints) {
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
   * The fingerprints that the model's directories had when it was loaded last; empty: nothing is
   * loaded.
   */
  List<Fingerprint> fingerprints() {
    lock.lock();
    try {
      return loaded == null ? List.of() : loaded.fingerprints();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the plan that the model is served from, if that is an override and was given for
   * directories with these fingerprints.
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

  /** True if any version is loaded. */
  public boolean isLoaded() {
    lock.lock();
    try {
      return loaded != null;
    } finally {
      lock.unlock();
    }
  }

  /** True if the model is served from files that came with a load, and is in no repository. */
  public boolean isGiven() {
    return override(List.of()).isPresent();
  }

  /** True if the loaded versions come from an equal plan. */
  boolean isUnchanged(RepositoryPlan plan) {
    lock.lock();
    try {
      return complete
          && loaded.fingerprints().equals(plan.fingerprints())
          && loaded.hasOverrideOf(plan)
          && plan.numbers().stream()
              .allMatch(version -> models.entry(id, version).state() == ModelState.READY);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Loads the versions that were read, and unloads others when that worked. Does nothing when they
   * are loaded and nothing has changed.
   *
   * @return the failure; empty: there is none
   */
  Optional<Failure> load(RepositoryPlan plan) {
    lock.lock();
    try {
      lifecycle.checkOpen();
      // The files may have changed while the load waited for its turn.
      if (plan.isOutdated()) {
        plan.agents().close();
        return apply(reader.again(plan));
      }
      return apply(plan);
    } catch (RuntimeException e) {
      Optional<OverrideFiles> given = plan.files();
      if (given.isPresent() && !files.contains(given.get())) {
        given.get().close();
      }
      throw e;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Optional<Failure> apply(RepositoryPlan plan) {
    if (isUnchanged(plan)) {
      plan.agents().close();
      return Optional.empty();
    }
    plan.files().ifPresent(files::add);
    List<String> failures = new ArrayList<>();
    for (ModelDraft version : plan.versions()) {
      if (version.version() != 0) {
        models.dropWhole(id);
      }
      Optional<String> failure = load(plan, version);
      failure.ifPresent(failures::add);
      if (failure.isEmpty()) {
        used.compute(version.version(), (key, before) -> plan.files().orElse(null));
      }
    }
    loaded = plan;
    complete = failures.isEmpty();
    plan.agents().ended(complete, plan.isOfPlugin());
    if (!complete) {
      closeFiles();
      boolean whole = plan.numbers().contains(0L);
      String what = (whole ? WHOLE_FAILED : VERSIONS_FAILED).formatted(id.name());
      return Optional.of(new Failure(what + String.join(" ", failures), whole));
    }
    AgentChain before = agents;
    agents = plan.agents();
    served = plan;
    leave(before, plan.numbers());
    used.keySet().retainAll(plan.numbers());
    closeFiles();
    return Optional.empty();
  }

  /** Loads a version, and returns the reason why that failed; empty when it worked. */
  private Optional<String> load(RepositoryPlan plan, ModelDraft version) {
    ModelEntry entry = models.entry(id, version.version());
    RuntimeException failure;
    if (version instanceof ModelDraft.Broken broken) {
      failure = explain(plan, broken.cause());
      lifecycle.fail(entry, broken.cause()); // also logs the failure
    } else {
      try {
        load(entry, version);
        return Optional.empty();
      } catch (RuntimeException e) {
        lifecycle.checkOpen();
        failure = explain(plan, e);
      }
    }
    lifecycle.explain(entry, failure);
    String reason = ModelEntry.reason(failure);
    return Optional.of(
        version.version() == 0
            ? reason
            : "version " + version.version() + " is at UNAVAILABLE state: " + reason + ";");
  }

  /** Loads a version, with as many tries as are configured. */
  private void load(ModelEntry entry, ModelDraft draft) {
    for (int left = retryCount; left > 0; left--) {
      try {
        lifecycle.load(entry, draft);
        return;
      } catch (RuntimeException e) { // the listeners have been told
        lifecycle.checkOpen();
      }
    }
    lifecycle.load(entry, draft);
  }

  /**
   * Returns a failure for clients, without this machine's paths. If files were being written
   * meanwhile, the message says that a later load may work.
   */
  private static RuntimeException explain(RepositoryPlan plan, RuntimeException cause) {
    String outdated =
        plan.isOutdated() ? "the model's directory changed while it was being read: " : "";
    String message = outdated + ServerPaths.hide(ModelEntry.reason(cause), plan.places());
    if (message.equals(cause.getMessage())) {
      return cause;
    }
    StatusCode code = cause instanceof NereidException e ? e.code() : StatusCode.UNAVAILABLE;
    NereidException told = new NereidException(code, message);
    told.initCause(cause);
    return told;
  }

  /** Unloads versions that are not among these, and tells the agents of the old load. */
  private void leave(AgentChain told, Set<Long> versions) {
    if (told != null) {
      told.leaving();
    }
    leaveOthers(versions);
    if (told != null) {
      told.close();
    }
  }

  private void leaveOthers(Set<Long> versions) {
    for (ModelEntry model : models.versions(id.key())) {
      if (!versions.contains(model.version())) {
        lifecycle.unload(model);
        if (!isThere(model.version())) {
          models.drop(id, model.version());
        }
      }
    }
    if (!versions.contains(0L)) {
      models.dropWhole(id);
    }
  }

  /** True if a repository still has a version. */
  private boolean isThere(long version) {
    return names.of(id.key()).stream()
        .anyMatch(place ->
            ModelFile.isAt(place) || Files.isDirectory(place.resolve(Long.toString(version))));
  }

  /** Deletes what neither a loaded version nor the plan of the last load that worked needs. */
  @GuardedBy("lock")
  private void closeFiles() {
    Set<OverrideFiles> needed = new HashSet<>(used.values());
    Optional.ofNullable(served).flatMap(RepositoryPlan::files).ifPresent(needed::add);
    files.stream().filter(one -> !needed.contains(one)).forEach(OverrideFiles::close);
    files.retainAll(needed);
  }

  /** Unloads all versions. */
  public void unload() {
    lock.lock();
    try {
      loaded = null;
      served = null;
      complete = false;
      AgentChain told = agents;
      agents = null;
      leave(told, Set.of());
      used.clear();
      closeFiles();
    } finally {
      lock.unlock();
    }
  }

  /** Deletes temporary files; the models have been unloaded. */
  void close() {
    lock.lock();
    try {
      if (agents != null) {
        agents.leaving();
        agents.close();
        agents = null;
      }
      served = null;
      used.clear();
      closeFiles();
    } finally {
      lock.unlock();
    }
  }
}
