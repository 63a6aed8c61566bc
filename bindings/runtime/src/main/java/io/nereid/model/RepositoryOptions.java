package io.nereid.model;

import io.nereid.internal.Checks;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of models, and the rules by which they are loaded. Build one with {@link #builder()}.
 *
 * @param repositories directories of models; a model found in two of them is unavailable
 * @param controlMode when models are loaded
 * @param pollInterval how often {@link ControlMode#POLL} looks for changes
 * @param loadModels what {@link ControlMode#EXPLICIT} loads at the start; {@code *} for all
 * @param autoComplete whether the model's file may complete its configuration
 * @param defaultMaxBatchSize the {@code max_batch_size} of models with a batch dimension whose
 *     configuration lacks it
 * @param configName the configuration file in a model's directory {@code configs}, without {@code
 *     .pbtxt}; models without such a file, or all if this is empty, use {@code config.pbtxt}
 * @param namespacing whether models in different repositories may have the same name
 * @param loadRetryCount how many times a failed load is repeated, at once
 * @param loadThreadCount how many models are loaded at the same time
 * @param listeners receive the models' events from the start
 * @param objectives objectives by model name, which replace those of the configurations
 * @param isolations isolations by model name, in the same way; {@code *} names all others
 * @param shadows shadows by model name, in the same way, such as {@code 3=2}
 * @param store prepares the directories; some of them are the store's own
 */
public record RepositoryOptions(
    List<Path> repositories,
    ControlMode controlMode,
    Duration pollInterval,
    List<String> loadModels,
    boolean autoComplete,
    int defaultMaxBatchSize,
    String configName,
    boolean namespacing,
    int loadRetryCount,
    int loadThreadCount,
    List<LifecycleListener> listeners,
    Map<String, Objective> objectives,
    Map<String, String> isolations,
    Map<String, String> shadows,
    ModelStore store) {

  /** The rules for when models are loaded. */
  public enum ControlMode {
    /** All models are loaded at the start, and none later. */
    NONE,
    /** All models are loaded at the start; changes in the directories are followed. */
    POLL,
    /** Models are loaded that are named, at the start and later. */
    EXPLICIT
  }

  /** Names all models in {@link #loadModels}. */
  public static final String ALL_MODELS = "*";

  /** Checks the values and copies the lists. */
  public RepositoryOptions {
    repositories = List.copyOf(Checks.notNull(repositories, "repositories"));
    Checks.notNull(controlMode, "controlMode");
    if (Checks.notNull(pollInterval, "pollInterval").isNegative() || pollInterval.isZero()) {
      throw new IllegalArgumentException("pollInterval must be positive, got " + pollInterval);
    }
    loadModels = List.copyOf(Checks.notNull(loadModels, "loadModels"));
    if (controlMode != ControlMode.EXPLICIT && !loadModels.isEmpty()) {
      throw new IllegalArgumentException(
          "models to load can be named in control mode EXPLICIT only, it is " + controlMode);
    }
    Checks.positive(defaultMaxBatchSize, "defaultMaxBatchSize");
    Checks.notNull(configName, "configName");
    if (!configName.matches("[^/\\\\\\s]*") || configName.contains("..")) {
      throw new IllegalArgumentException(
          "expected configName to be a file's name without blanks, got '" + configName + "'");
    }
    Checks.notNegative(loadRetryCount, "loadRetryCount");
    Checks.positive(loadThreadCount, "loadThreadCount");
    listeners = List.copyOf(Checks.notNull(listeners, "listeners"));
    objectives = Map.copyOf(Checks.notNull(objectives, "objectives"));
    isolations = Map.copyOf(Checks.notNull(isolations, "isolations"));
    shadows = Map.copyOf(Checks.notNull(shadows, "shadows"));
    Checks.notNull(store, "store");
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link RepositoryOptions}. */
  public static final class Builder {
    private final List<Path> repositories = new ArrayList<>();
    private final List<String> loadModels = new ArrayList<>();
    private final List<LifecycleListener> listeners = new ArrayList<>();
    private final Map<String, Objective> objectives = new HashMap<>();
    private final Map<String, String> isolations = new HashMap<>();
    private final Map<String, String> shadows = new HashMap<>();
    private ControlMode controlMode = ControlMode.NONE;
    private Duration pollInterval = Duration.ofSeconds(15);
    private boolean autoComplete = true;
    private int defaultMaxBatchSize = 4;
    private String configName = "";
    private boolean namespacing;
    private int loadRetryCount;
    private int loadThreadCount = 4;
    private ModelStore store = ModelStore.LOCAL;

    private Builder() {}

    /** Adds a directory of models. */
    public Builder repository(Path directory) {
      repositories.add(Checks.notNull(directory, "directory"));
      return this;
    }

    /** Adds a repository in an object store, such as {@code s3://bucket/models}. */
    public Builder repository(URI url) {
      String text = Checks.notNull(url, "url").toString();
      return store(ModelStore.open(StoreOptions.builder().repository(text).build()));
    }

    /** When models are loaded; {@link ControlMode#NONE} when it is not set. */
    public Builder controlMode(ControlMode mode) {
      controlMode = Checks.notNull(mode, "mode");
      return this;
    }

    /** Follows changes in the directories, looking for them this often. */
    public Builder poll(Duration interval) {
      pollInterval = Checks.notNull(interval, "interval");
      return controlMode(ControlMode.POLL);
    }

    /** Loads only models that are asked for: these at the start, {@code *} for all. */
    public Builder explicit(String... models) {
      loadModels.addAll(List.of(Checks.notNull(models, "models")));
      return controlMode(ControlMode.EXPLICIT);
    }

    /** Sets the time between two looks for changes; 15 s when it is not set. */
    public Builder pollInterval(Duration interval) {
      pollInterval = Checks.notNull(interval, "interval");
      return this;
    }

    /** True if models may tell what their configurations leave out; true by default. */
    public Builder autoComplete(boolean complete) {
      autoComplete = complete;
      return this;
    }

    /**
     * Sets the largest batch of models with a batch dimension that tell no {@code max_batch_size};
     * 4 when it is not set.
     */
    public Builder defaultMaxBatchSize(int size) {
      defaultMaxBatchSize = size;
      return this;
    }

    /**
     * Names the file in a model's directory {@code configs} that is preferred; none is by default.
     */
    public Builder configName(String name) {
      configName = Checks.notNull(name, "name");
      return this;
    }

    /**
     * True if models in different repositories may have the same name; false by default. Requests
     * reach a model if its name is unique, else through ensembles of its own repository.
     */
    public Builder namespacing(boolean separate) {
      namespacing = separate;
      return this;
    }

    /** Sets the number of further tries of a version whose load failed, at once; 0 by default. */
    public Builder loadRetryCount(int count) {
      loadRetryCount = count;
      return this;
    }

    /** Sets the number of models that are loaded at the same time; 4 when it is not set. */
    public Builder loadThreadCount(int count) {
      loadThreadCount = count;
      return this;
    }

    /** Adds a listener that hears of the models from the start. */
    public Builder listener(LifecycleListener listener) {
      listeners.add(Checks.notNull(listener, "listener"));
      return this;
    }

    /** Sets the objective of a model, whatever its configuration says. */
    public Builder objective(String model, Objective objective) {
      objectives.put(Checks.notNull(model, "model"), Checks.notNull(objective, "objective"));
      return this;
    }

    /**
     * Sets where the backend of a model runs, whatever its configuration says ({@link
     * ModelSpec.Builder#isolation}); {@code *} is for all models that are not named.
     */
    public Builder isolation(String model, String place) {
      isolations.put(Checks.notNull(model, "model"), Checks.notNull(place, "place"));
      return this;
    }

    /**
     * Loads a version of a model as the shadow of another one, whatever its configuration says
     * ({@link io.nereid.Model#shadowOf}); both are loaded, whatever the version policy says.
     */
    public Builder shadow(String model, long version, long primary) {
      Checks.positive(version, "version");
      Checks.positive(primary, "primary");
      shadows.put(Checks.notNull(model, "model"), version + "=" + primary);
      return this;
    }

    /**
     * Adds the repositories of a store, and lets it open all models. The {@link io.nereid.Nereid}
     * that is made with these options closes it.
     */
    public Builder store(ModelStore one) {
      if (store != ModelStore.LOCAL) {
        throw new IllegalStateException("expected one store, which can have several repositories");
      }
      store = Checks.notNull(one, "one");
      repositories.addAll(one.repositories());
      return this;
    }

    /** The finished value. */
    public RepositoryOptions build() {
      return new RepositoryOptions(
          repositories,
          controlMode,
          pollInterval,
          loadModels,
          autoComplete,
          defaultMaxBatchSize,
          configName,
          namespacing,
          loadRetryCount,
          loadThreadCount,
          listeners,
          objectives,
          isolations,
          shadows,
          store);
    }
  }
}
