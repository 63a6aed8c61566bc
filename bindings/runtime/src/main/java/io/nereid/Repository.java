package io.nereid;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.Checks;
import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.model.ModelLoader;
import io.nereid.internal.model.ModelTable;
import io.nereid.internal.repository.Fingerprint;
import io.nereid.internal.repository.ModelDirectories;
import io.nereid.internal.repository.Poller;
import io.nereid.internal.repository.RepositoryCheck;
import io.nereid.internal.repository.RepositoryEntry;
import io.nereid.internal.repository.RepositoryLoader;
import io.nereid.model.CheckedModel;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelPreview;
import io.nereid.model.ModelState;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.RepositoryOptions.ControlMode;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * The model repositories of a {@link Nereid}, and which of their models are loaded. Loading and
 * unloading by name is for control mode {@link ControlMode#EXPLICIT}.
 */
public final class Repository {

  private final ModelLifecycle lifecycle;
  private final ModelTable models;
  private final RepositoryOptions options;
  private final ModelDirectories names;
  private final RepositoryLoader loader;
  private final AtomicBoolean started = new AtomicBoolean();
  private final Object pollerLock = new Object();

  @GuardedBy("pollerLock")
  private Poller poller; // null: nothing polls

  @GuardedBy("pollerLock")
  private boolean stopped;

  Repository(
      ModelLifecycle lifecycle,
      ModelTable models,
      RepositoryOptions options,
      ModelLoader modelLoader) {
    this.lifecycle = lifecycle;
    this.models = models;
    this.options = options;
    names = new ModelDirectories(options.repositories(), options.namespacing());
    loader = new RepositoryLoader(lifecycle, models, options, names, modelLoader);
  }

  /**
   * Reads the models of repositories without loading them, and reports for each whether it runs
   * here, needs a plug-in of Triton's, has settings that are ignored, or is refused. The check does
   * not read the models' own files.
   */
  public static List<CheckedModel> check(RepositoryOptions options, PluginOptions plugins) {
    return RepositoryCheck.check(
        Checks.notNull(options, "options"), Checks.notNull(plugins, "plugins"));
  }

  /**
   * Loads what the control mode asks for; a model that cannot be loaded is there with its reason.
   * The repository follows changes from then on in mode poll. {@link Nereid#open} has done this
   * already; after {@link Nereid#create(RepositoryOptions, NereidOptions)} it is to be called once.
   */
  public void start() {
    if (started.getAndSet(true)) {
      throw new IllegalStateException("the repositories are started already");
    }
    RepositoryLoader.removeLeft();
    boolean all =
        options.controlMode() != ControlMode.EXPLICIT
            || options.loadModels().contains(RepositoryOptions.ALL_MODELS);
    options.store().look(all);
    SortedMap<String, List<Path>> found = names.find();
    names.warnOfUnknown("objective", found, options.objectives().keySet());
    names.warnOfUnknown("isolation", found, options.isolations().keySet());
    names.warnOfUnknown("option --shadow", found, options.shadows().keySet());
    SortedMap<String, List<Path>> wanted = new TreeMap<>();
    if (all) {
      wanted.putAll(found);
    }
    for (String name : options.loadModels()) {
      if (!name.equals(RepositoryOptions.ALL_MODELS)) {
        Map<String, List<Path>> its = named(found, name);
        wanted.putAll(its.isEmpty() ? Map.of(name, List.of()) : its);
      }
    }
    loader.load(wanted, Map.of());
    if (options.controlMode() == ControlMode.POLL) {
      follow();
    }
  }

  /** Looks for changes from now on, unless all was closed in the meantime. */
  private void follow() {
    synchronized (pollerLock) {
      if (!stopped) {
        poller = new Poller(this::poll, options.pollInterval());
      }
    }
  }

  /** Returns the entries of one model's name. */
  private Map<String, List<Path>> named(SortedMap<String, List<Path>> found, String name) {
    Map<String, List<Path>> its = new TreeMap<>(found);
    its.keySet().removeIf(key -> !names.id(key).name().equals(name));
    return its;
  }

  /** Stops following changes, and waits until nothing is being loaded because of one. */
  void stop() {
    Poller polling;
    synchronized (pollerLock) {
      stopped = true;
      polling = poller;
    }
    if (polling != null) {
      polling.close();
    }
  }

  /** Deletes the files that were stored for loaded models, which are unloaded by now. */
  void close() {
    loader.close();
    options.store().close();
  }

  /** The settings it was made with. */
  public RepositoryOptions options() {
    return options;
  }

  // ---- The index -------------------------------------------------------------------------------

  /**
   * Every model of the repositories, loaded or not, and every other model that was ever loaded: by
   * name, then by version.
   */
  public List<ModelIndexEntry> index() {
    lifecycle.checkOpen();
    Set<String> keys = new TreeSet<>(models.keys());
    try {
      keys.addAll(names.find().keySet());
    } catch (NereidException e) {
      warn(e.getMessage());
    }
    Map<String, String> waiting = new HashMap<>();
    options.store().status().forEach(one -> waiting.putAll(one.waiting()));
    List<ModelIndexEntry> index = new ArrayList<>();
    for (String key : keys) {
      List<ModelEntry> versions = models.versions(key);
      if (versions.isEmpty()) {
        String name = names.id(key).name();
        index.add(
            new ModelIndexEntry(
                name,
                OptionalLong.empty(),
                ModelIndexEntry.State.UNKNOWN,
                waiting.getOrDefault(name, "")));
      }
      versions.reversed().forEach(model -> index.add(indexEntry(model, waiting)));
    }
    return index;
  }

  private static ModelIndexEntry indexEntry(ModelEntry model, Map<String, String> waiting) {
    OptionalLong version =
        model.version() == 0 ? OptionalLong.empty() : OptionalLong.of(model.version());
    ModelState state = model.state();
    return new ModelIndexEntry(
        model.name(),
        version,
        switch (state) {
          case READY -> ModelIndexEntry.State.READY;
          case LOADING -> ModelIndexEntry.State.LOADING;
          case DRAINING -> ModelIndexEntry.State.UNLOADING;
          case UNLOADED, INCOMPLETE, FAILED -> ModelIndexEntry.State.UNAVAILABLE;
        },
        state == ModelState.UNLOADED
            ? "unloaded"
            : model.failure().orElse(waiting.getOrDefault(model.name(), "")));
  }

  /**
   * Reads a model as {@link #load} would, and returns the changes that it would make; loads
   * nothing.
   */
  public ModelPreview preview(String name) {
    lifecycle.checkOpen();
    SortedMap<String, List<Path>> found = names.find(Checks.notNull(name, "name"));
    if (found.isEmpty()) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "there is no model '" + name + "' in the repositories");
    }
    return loader.preview(found.firstKey(), found.get(found.firstKey()));
  }

  // ---- Loading and unloading -------------------------------------------------------------------

  /**
   * Loads a model, with the models that it needs when it is an ensemble, from what the repository
   * has now; returns when it takes requests. A version that is loaded already is replaced without a
   * gap, unless nothing has changed; when that fails it goes on serving. Versions that the
   * configuration does not select any more are unloaded.
   *
   * <p>An override that the model was loaded with holds, until the model is unloaded or its files
   * in the repository change.
   *
   * @throws NereidException with the reasons of all versions that could not be loaded
   */
  public void load(String name) {
    load(Checks.notNull(name, "name"), Optional.empty());
  }

  /** Does the same as {@link #load(String)}, with another configuration, or with other files. */
  public void load(String name, ModelOverride override) {
    load(Checks.notNull(name, "name"), Optional.of(Checks.notNull(override, "override")));
  }

  private void load(String name, Optional<ModelOverride> override) {
    checkExplicit();
    boolean given =
        override
            .map(value -> !value.files().isEmpty())
            .orElseGet(() -> loader.known(name).map(RepositoryEntry::isGiven).orElse(false));
    options.store().look(false);
    SortedMap<String, List<Path>> found = names.find(name);
    if (found.isEmpty() && !given) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "failed to load '"
              + name
              + "', failed to poll from model repository: there is no such model");
    }
    boolean newFiles = override.isPresent() && given;
    SortedMap<String, List<Path>> wanted =
        newFiles || found.isEmpty()
            ? new TreeMap<>(Map.of(name, found.getOrDefault(name, List.of())))
            : found;
    Map<String, ModelOverride> overrides = new HashMap<>();
    override.ifPresent(value -> wanted.keySet().forEach(key -> overrides.put(key, value)));
    Map<String, RepositoryEntry.Failure> failures;
    try {
      failures = loader.load(wanted, overrides);
    } catch (NereidException e) {
      throw new UnreadableModelException(
          e.code(), "failed to load '" + name + "', failed to poll from model repository", e);
    }
    failures.keySet().retainAll(wanted.keySet());
    if (!failures.isEmpty()) {
      throw failure(failures);
    }
  }

  private static NereidException failure(Map<String, RepositoryEntry.Failure> failures) {
    String message =
        new TreeMap<>(failures)
            .values().stream()
                .map(RepositoryEntry.Failure::message)
                .collect(Collectors.joining(" "));
    return failures.values().stream().anyMatch(RepositoryEntry.Failure::unread)
        ? new UnreadableModelException(StatusCode.INVALID_ARGUMENT, message)
        : new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  /**
   * Unloads all versions of a model; waiting requests are answered first. Does nothing when it is
   * not loaded, or there is none.
   */
  public void unload(String name) {
    unload(Checks.notNull(name, "name"), false);
  }

  /**
   * Does the same as {@link #unload(String)}. Ensembles that use the model become incomplete.
   *
   * @param unloadDependents for an ensemble: whether models that it uses, and that no other one
   *     does, are unloaded with it
   */
  public void unload(String name, boolean unloadDependents) {
    Checks.notNull(name, "name");
    checkExplicit();
    ModelFiles.checkName(name);
    loader.keys().stream()
        .filter(key -> names.id(key).name().equals(name))
        .toList()
        .forEach(key -> unloadKnown(key, unloadDependents));
  }

  private void unloadKnown(String key, boolean unloadDependents) {
    Set<String> steps = unloadDependents ? steps(key) : Set.of();
    loader.entry(key).unload();
    for (String step : steps) {
      if (loader.known(step).isPresent() && !isUsed(step)) {
        unloadKnown(step, true);
      }
    }
  }

  private Set<String> steps(String key) {
    Set<String> steps = new TreeSet<>();
    models
        .versions(key)
        .forEach(version -> version.steps().forEach(step -> steps.add(step.model())));
    return steps;
  }

  /** True if an ensemble that takes requests has this model. */
  private boolean isUsed(String key) {
    return models.all().stream()
        .filter(model -> model.state() == ModelState.READY)
        .flatMap(model -> model.steps().stream())
        .anyMatch(step -> step.model().equals(key));
  }

  /** Throws unless the control mode is {@link ControlMode#EXPLICIT}. */
  public void checkExplicit() {
    lifecycle.checkOpen();
    if (options.controlMode() != ControlMode.EXPLICIT) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "explicit model load / unload is not allowed if polling is enabled or there is no model "
              + "control: expected control mode explicit, it is "
              + options.controlMode().toString().toLowerCase(Locale.ROOT));
    }
  }

  // ---- Following changes -----------------------------------------------------------------------

  /**
   * Loads models that are new or changed in the directories and unloads those that are gone. In
   * control mode {@link ControlMode#POLL} this happens periodically. A repository that cannot be
   * listed leaves everything as it is.
   */
  public void poll() {
    lifecycle.checkOpen();
    if (options.controlMode() != ControlMode.POLL) {
      throw new NereidException(
          StatusCode.UNAVAILABLE, "changes are followed in control mode poll only");
    }
    SortedMap<String, List<Path>> found;
    try {
      options.store().look(true);
      found = names.find();
      found.values().forEach(this::fetch);
    } catch (NereidException e) {
      warn("nothing is loaded or unloaded until the repositories can be read: " + e.getMessage());
      return;
    }
    for (String key : loader.keys()) {
      if (!found.containsKey(key) && loader.entry(key).isLoaded()) {
        loader.entry(key).unload();
      }
    }
    SortedMap<String, List<Path>> changed = new TreeMap<>(found);
    changed
        .entrySet()
        .removeIf(
            model -> loader.entry(model.getKey()).isLoadedFrom(Fingerprint.of(model.getValue())));
    loader.load(changed, Map.of());
  }

  /** Waits for a model's files; loaded versions go on serving when they cannot be fetched. */
  private void fetch(List<Path> places) {
    try {
      places.forEach(options.store()::fetch);
    } catch (NereidException e) {
      // The store has logged the failure, and the index shows what the model waits for.
    }
  }

  private static void warn(String line) {
    CoreLog.LOGGER.log(Level.WARNING, line);
  }
}
