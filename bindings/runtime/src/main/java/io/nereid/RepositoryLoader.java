package io.nereid;

import io.nereid.internal.repository.Fingerprint;
import io.nereid.internal.repository.ModelReader;
import io.nereid.internal.repository.ModelReading;
import io.nereid.internal.repository.ModelRepository;
import io.nereid.internal.repository.OverrideFiles;
import io.nereid.internal.repository.ReadOptions;
import io.nereid.internal.repository.RepositoryModel;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;

/**
 * Reads and loads models of the repositories, several at the same time, ensembles after the models
 * that they need.
 */
final class RepositoryLoader {

  /** What is written while it is read is read again, this often, with a pause. */
  private static final int MAX_READS = 3;

  private static final long PAUSE_MS = 50;

  private final Nereid nereid;
  private final ModelTable models;
  private final RepositoryOptions options;
  private final Function<String, RepositoryEntry> entries;
  private final RepositoryNames names;

  RepositoryLoader(
      Nereid nereid,
      ModelTable models,
      RepositoryOptions options,
      RepositoryNames names,
      Function<String, RepositoryEntry> entries) {
    this.nereid = nereid;
    this.models = models;
    this.options = options;
    this.entries = entries;
    this.names = names;
  }

  /**
   * Loads models, and those that ensembles among them need and that take no requests yet.
   *
   * @param wanted directories by key
   * @param overrides what is used in place of some directories' content
   * @return what went wrong, by key
   */
  Map<String, String> load(
      SortedMap<String, List<Path>> wanted, Map<String, ModelOverride> overrides) {
    Map<String, String> failures = new ConcurrentHashMap<>();
    if (wanted.isEmpty()) {
      return failures;
    }
    ThreadFactory threads = Thread.ofPlatform().daemon().name("nrd-load-", 0).factory();
    try (ExecutorService pool = Executors.newFixedThreadPool(options.loadThreadCount(), threads)) {
      SortedMap<String, RepositoryPlan> plans = readAll(wanted, overrides, pool);
      plans.values().forEach(this::announce);
      Map<String, CompletableFuture<Void>> loads = new HashMap<>();
      for (String name : plans.keySet()) {
        schedule(name, plans, loads, failures, pool);
      }
      loads.values().forEach(RepositoryLoader::join);
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
      unread.forEach((name, directories) -> {
        Optional<ModelOverride> override = Optional.ofNullable(overrides.get(name));
        reads.put(
            name, CompletableFuture.supplyAsync(() -> read(name, directories, override), pool));
      });
      reads.forEach((name, read) -> plans.put(name, join(read)));
      unread = missingSteps(plans);
    }
    return plans;
  }

  private static <T> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        case null, default -> throw e;
      }
    }
  }

  /** Directories of what ensembles need and what is neither there nor among the plans. */
  private Map<String, List<Path>> missingSteps(Map<String, RepositoryPlan> plans) {
    Map<String, List<Path>> missing = new TreeMap<>();
    for (RepositoryPlan plan : plans.values()) {
      for (String step : plan.steps()) {
        boolean there =
            models.versions(step).stream().anyMatch(model -> model.state() == ModelState.READY);
        if (!there && !plans.containsKey(step)) {
          List<Path> where = names.directories(step);
          if (!where.isEmpty()) {
            missing.put(step, where);
          }
        }
      }
    }
    return missing;
  }

  private RepositoryPlan read(
      String name, List<Path> directories, Optional<ModelOverride> override) {
    nereid.checkOpen();
    if (override.isPresent() && !override.get().files().isEmpty()) {
      OverrideFiles files = OverrideFiles.write(name, override.get().files());
      // From here on the files are on the disk, and not held in memory as well.
      ModelOverride config = ModelOverride.ofConfig(override.get().config());
      return readFiles(name, directories, config, files);
    }
    Optional<RepositoryPlan> kept =
        override.isPresent()
            ? Optional.empty()
            : entries.apply(name).override(fingerprints(directories));
    if (kept.flatMap(RepositoryPlan::files).isPresent()) {
      return readFiles(
          name, directories, kept.get().override().orElseThrow(), kept.get().files().orElseThrow());
    }
    return readDirectories(
        name, directories, override.or(() -> kept.flatMap(RepositoryPlan::override)));
  }

  private static List<Fingerprint> fingerprints(List<Path> directories) {
    return directories.stream().map(Fingerprint::of).toList();
  }

  private RepositoryPlan readFiles(
      String name, List<Path> directories, ModelOverride override, OverrideFiles files) {
    List<Fingerprint> before = fingerprints(directories);
    ModelReading reading = read(files.directory(), Optional.of(override));
    return new RepositoryPlan(
        name, directories, before, Optional.of(override), Optional.of(files), reading);
  }

  private RepositoryPlan readDirectories(
      String name, List<Path> directories, Optional<ModelOverride> override) {
    RepositoryPlan plan = null;
    for (int i = 0; i < MAX_READS; i++) {
      List<Fingerprint> before = fingerprints(directories);
      ModelReading reading =
          directories.size() == 1
              ? read(directories.getFirst(), override)
              : unusable(name, directories);
      plan = new RepositoryPlan(name, directories, before, override, Optional.empty(), reading);
      if (!plan.isOutdated()) {
        break;
      }
      pause();
    }
    return plan;
  }

  private ModelReading read(Path directory, Optional<ModelOverride> override) {
    ReadOptions how =
        new ReadOptions(
            options.autoComplete(),
            options.defaultMaxBatchSize(),
            options.configName(),
            names::step,
            override.map(ModelOverride::config));
    return ModelReader.read(directory, how, Repository::warn);
  }

  private ModelReading unusable(String key, List<Path> directories) {
    String name = names.id(key).name();
    NereidException cause;
    try {
      ModelRepository.checkName(name);
      cause = directories.isEmpty() ? missing(name) : repeated(name, directories);
    } catch (NereidException e) {
      cause = e;
    }
    return new ModelReading(List.of(new RepositoryModel.Broken(name, 0, cause)), 0, 0);
  }

  private NereidException missing(String name) {
    Repository.warn("there is no model '" + name + "' in " + options.repositories());
    return new NereidException(
        StatusCode.NOT_FOUND, "there is no model '" + name + "' in the repositories");
  }

  /** Clients read Triton's words; which repositories they are is for the operator. */
  private static NereidException repeated(String name, List<Path> directories) {
    Repository.warn("model '" + name + "' must be in one repository only, it is in " + directories);
    return new NereidException(
        StatusCode.INVALID_ARGUMENT, "model appears in two or more repositories");
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- Loading ---------------------------------------------------------------------------------

  private void announce(RepositoryPlan plan) {
    if (entries.apply(plan.name()).isUnchanged(plan)) {
      return;
    }
    for (RepositoryModel version : plan.reading().versions()) {
      nereid.fire(new ModelEvent.Waiting(version.name(), version.version()));
    }
  }

  /** A load that begins when what it needs is done, well or not. */
  private CompletableFuture<Void> schedule(
      String name,
      Map<String, RepositoryPlan> plans,
      Map<String, CompletableFuture<Void>> loads,
      Map<String, String> failures,
      ExecutorService pool) {
    CompletableFuture<Void> known = loads.get(name);
    if (known != null) {
      return known;
    }
    RepositoryPlan plan = plans.get(name);
    List<CompletableFuture<Void>> needed = new ArrayList<>();
    if (needsItself(name, name, plans, new HashSet<>())) {
      plan =
          plan.failing(
              StatusCode.INVALID_ARGUMENT,
              "ensemble '"
                  + names.id(name).name()
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
            .thenRunAsync(() -> load(ready, failures), pool);
    loads.put(name, load);
    return load;
  }

  private static boolean needsItself(
      String start, String name, Map<String, RepositoryPlan> plans, Set<String> seen) {
    RepositoryPlan plan = plans.get(name);
    if (plan == null || !seen.add(name)) {
      return false;
    }
    return plan.steps().contains(start)
        || plan.steps().stream().anyMatch(step -> needsItself(start, step, plans, seen));
  }

  private void load(RepositoryPlan plan, Map<String, String> failures) {
    entries
        .apply(plan.name())
        .load(plan, () -> readDirectories(plan.name(), plan.directories(), plan.override()))
        .ifPresent(wrong -> failures.put(plan.name(), wrong));
  }
}
