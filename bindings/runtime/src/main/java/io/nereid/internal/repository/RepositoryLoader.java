package io.nereid.internal.repository;

import io.nereid.internal.Checks;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.model.EnsembleGraph;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.model.ModelLoader;
import io.nereid.internal.model.ModelTable;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelPreview;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Loads models of the repositories: reads them, several at the same time, and loads what was read,
 * ensembles after the models that they need. Any thread may call; the work is done by threads
 * {@code nrd-load-<i>}, which end with the call.
 */
public final class RepositoryLoader {

  private final ModelLifecycle lifecycle;
  private final ModelTable models;
  private final RepositoryOptions options;
  private final ModelDirectories names;
  private final RepositoryPlan.Reader reader;

  /** The entries by key. */
  private final Map<String, RepositoryEntry> entries = new ConcurrentHashMap<>();

  /** A loader that has loaded nothing. */
  public RepositoryLoader(
      ModelLifecycle lifecycle,
      ModelTable models,
      RepositoryOptions options,
      ModelDirectories names,
      ModelLoader modelLoader) {
    this.lifecycle = lifecycle;
    this.models = models;
    this.options = options;
    this.names = names;
    reader = new RepositoryPlan.Reader(options, names, modelLoader);
  }

  /** Deletes what processes left behind that ended without {@link #close}. */
  public static void removeLeft() {
    OverrideFiles.removeLeft();
  }

  /** Returns the entry for the loads of a model. */
  public RepositoryEntry entry(String key) {
    return entries.computeIfAbsent(
        key,
        made -> new RepositoryEntry(lifecycle, models, names, names.id(made), reader, options));
  }

  /** Returns the entry of a model that was asked for before; empty: it was not. */
  public Optional<RepositoryEntry> known(String key) {
    return Optional.ofNullable(entries.get(key));
  }

  /** The keys of all models that were ever asked for. */
  public Set<String> keys() {
    return Set.copyOf(entries.keySet());
  }

  /** Deletes what was stored for loaded models, which are unloaded by now. */
  public void close() {
    entries.values().forEach(RepositoryEntry::close);
  }

  /**
   * Loads models, and those that ensembles among them need and that take no requests yet.
   *
   * @param wanted directories by key
   * @param overrides what to use in place of some directories' content
   * @return the failures, by key
   */
  public Map<String, RepositoryEntry.Failure> load(
      SortedMap<String, List<Path>> wanted, Map<String, ModelOverride> overrides) {
    Map<String, RepositoryEntry.Failure> failures = new ConcurrentHashMap<>();
    if (wanted.isEmpty()) {
      return failures;
    }
    ThreadFactory threads = Thread.ofPlatform().daemon().name("nrd-load-", 0).factory();
    try (ExecutorService pool = Executors.newFixedThreadPool(options.loadThreadCount(), threads)) {
      SortedMap<String, RepositoryPlan> plans = readAll(wanted, overrides, pool);
      plans.values().forEach(this::announce);
      Map<String, CompletableFuture<Void>> loads = new HashMap<>();
      for (String key : plans.keySet()) {
        schedule(key, plans, loads, failures, pool);
      }
      loads.values().forEach(Checks::join);
    }
    return failures;
  }

  // ---- Reading ---------------------------------------------------------------------------------

  private SortedMap<String, RepositoryPlan> readAll(
      Map<String, List<Path>> wanted, Map<String, ModelOverride> overrides, ExecutorService pool) {
    SortedMap<String, RepositoryPlan> plans = new TreeMap<>();
    Map<String, List<Path>> unread = wanted;
    while (!unread.isEmpty()) {
      Map<String, CompletableFuture<RepositoryPlan>> reads = new TreeMap<>();
      unread.forEach((key, directories) -> {
        Optional<ModelOverride> override = Optional.ofNullable(overrides.get(key));
        reads.put(key, CompletableFuture.supplyAsync(() -> read(key, directories, override), pool));
      });
      reads.forEach((key, read) -> plans.put(key, Checks.join(read)));
      unread = missingSteps(plans);
    }
    return plans;
  }

  /** The directories of models that ensembles need and that are neither loaded nor planned. */
  private Map<String, List<Path>> missingSteps(Map<String, RepositoryPlan> plans) {
    Map<String, List<Path>> missing = new TreeMap<>();
    for (RepositoryPlan plan : plans.values()) {
      for (String step : plan.steps()) {
        boolean there =
            models.versions(step).stream().anyMatch(model -> model.state() == ModelState.READY);
        if (!there && !plans.containsKey(step)) {
          List<Path> where = names.of(step);
          if (!where.isEmpty()) {
            missing.put(step, where);
          }
        }
      }
    }
    return missing;
  }

  private RepositoryPlan read(
      String key, List<Path> directories, Optional<ModelOverride> override) {
    lifecycle.checkOpen();
    Optional<RepositoryPlan> kept =
        override.isPresent() ? Optional.empty() : entry(key).override(Fingerprint.of(directories));
    return reader.read(key, directories, override, kept);
  }

  /** Returns the changes that loading a model again would make. */
  public ModelPreview preview(String key, List<Path> directories) {
    List<Fingerprint> before = entry(key).fingerprints();
    RepositoryPlan plan = read(key, directories, Optional.empty());
    plan.agents().close(); // no load follows
    Optional<String> failure = Optional.empty();
    Map<Long, ModelConfiguration> versions = new HashMap<>();
    for (ModelDraft version : plan.versions()) {
      if (version instanceof ModelDraft.Broken broken) {
        String reason = broken.cause().getMessage();
        failure = Optional.of(ServerPaths.hide(reason, plan.places()));
      } else {
        version.configuration().ifPresent(known -> versions.put(version.version(), known));
      }
    }
    List<String> files =
        Fingerprint.changed(before, plan.fingerprints()).stream()
            .map(file -> ServerPaths.hide(file.toString(), directories))
            .toList();
    return new ModelPreview(!before.equals(plan.fingerprints()), failure, versions, files);
  }

  // ---- Loading ---------------------------------------------------------------------------------

  private void announce(RepositoryPlan plan) {
    if (entry(plan.key()).isUnchanged(plan)) {
      return;
    }
    for (ModelDraft version : plan.versions()) {
      lifecycle.fire(new ModelEvent.Waiting(version.name(), version.version()));
    }
  }

  /** A load that begins when the loads it depends on have ended, even by failure. */
  private CompletableFuture<Void> schedule(
      String key,
      Map<String, RepositoryPlan> plans,
      Map<String, CompletableFuture<Void>> loads,
      Map<String, RepositoryEntry.Failure> failures,
      ExecutorService pool) {
    CompletableFuture<Void> known = loads.get(key);
    if (known != null) {
      return known;
    }
    RepositoryPlan plan = plans.get(key);
    List<CompletableFuture<Void>> needed = new ArrayList<>();
    if (EnsembleGraph.needsItself(key, step -> steps(plans.get(step)))) {
      plan =
          plan.failing(
              StatusCode.INVALID_ARGUMENT,
              "ensemble '"
                  + names.id(key).name()
                  + "' needs itself through its steps "
                  + plan.steps().stream().map(ModelId::shown).toList());
    } else {
      for (String step : plan.steps()) {
        if (plans.containsKey(step)) {
          needed.add(schedule(step, plans, loads, failures, pool));
        }
      }
    }
    RepositoryPlan ready = plan;
    CompletableFuture<Void> load =
        CompletableFuture.allOf(needed.toArray(CompletableFuture[]::new))
            .thenRunAsync(
                () -> entry(key).load(ready).ifPresent(wrong -> failures.put(key, wrong)), pool);
    loads.put(key, load);
    return load;
  }

  private static Set<String> steps(RepositoryPlan plan) {
    return plan == null ? Set.of() : plan.steps();
  }
}
