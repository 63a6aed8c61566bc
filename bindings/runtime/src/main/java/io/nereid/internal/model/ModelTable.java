package io.nereid.internal.model;

import io.nereid.internal.request.Signature;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Every version of every model that was ever loaded, by name. Entries are removed when their
 * directory is gone; version 0, which stands for a model that is broken as a whole, when it is
 * mended. Any thread may ask, and none waits.
 */
public final class ModelTable {

  /** The versions by key, the highest first. The arrays are replaced, never changed. */
  private final ConcurrentHashMap<String, ModelEntry[]> versions = new ConcurrentHashMap<>();

  /** The keys of models that belong to a name space, by name; empty without any. */
  private final ConcurrentHashMap<String, Set<String>> namesakes = new ConcurrentHashMap<>();

  /** The entry for a version, which is made if missing. */
  public ModelEntry entry(ModelId id, long version) {
    ModelEntry[] after =
        versions.compute(
            id.key(),
            (key, before) -> {
              if (before != null && find(before, version) != null) {
                return before;
              }
              if (!id.namespace().isEmpty()) {
                namesakes(id.name()).add(key);
              }
              return with(before, new ModelEntry(id, version));
            });
    return find(after, version);
  }

  private static ModelEntry[] with(ModelEntry[] before, ModelEntry added) {
    List<ModelEntry> models = new ArrayList<>(before == null ? List.of() : List.of(before));
    models.add(added);
    models.sort(Comparator.comparingLong(ModelEntry::version).reversed());
    return models.toArray(ModelEntry[]::new);
  }

  private Set<String> namesakes(String name) {
    return namesakes.computeIfAbsent(name, key -> ConcurrentHashMap.newKeySet());
  }

  /** Forgets that a model was broken as a whole. */
  public void dropWhole(ModelId id) {
    drop(id, 0);
  }

  /** Forgets a version that is not loaded and will not come again. */
  public void drop(ModelId id, long version) {
    versions.computeIfPresent(
        id.key(),
        (key, before) -> {
          ModelEntry[] after =
              Arrays.stream(before)
                  .filter(model -> model.version() != version)
                  .toArray(ModelEntry[]::new);
          if (after.length > 0) {
            return after;
          }
          if (!id.namespace().isEmpty()) {
            namesakes(id.name()).remove(key);
          }
          return null;
        });
  }

  private static ModelEntry find(ModelEntry[] models, long version) {
    for (ModelEntry model : models) {
      if (model.version() == version) {
        return model;
      }
    }
    return null;
  }

  /** The highest version that is ready, except shadows and versions that are passed over. */
  public ModelEntry ready(String name) {
    ModelEntry[] models = known(name);
    ModelEntry notReady = null; // the highest version that could be
    for (ModelEntry model : models) {
      ModelState state = model.state();
      if (state == ModelState.READY) {
        if (model.takesAny()) {
          return model;
        }
      } else if (state != ModelState.UNLOADED && notReady == null) {
        notReady = model;
      }
    }
    if (notReady != null) {
      throw notReady.notReady();
    }
    throw new NereidException(
        StatusCode.NOT_FOUND,
        "Request for unknown model: '" + name + "' has no available versions");
  }

  /** The highest version of the only model, which must be ready. */
  public ModelEntry only() {
    List<String> names = all().stream().map(ModelEntry::name).distinct().toList();
    if (names.size() != 1) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION, "expected one model, there are " + names + ": name one");
    }
    return ready(names.getFirst());
  }

  /** One version, which must be ready. */
  public ModelEntry ready(String name, long version) {
    ModelEntry[] models = known(name);
    ModelEntry model = find(models, version);
    if (model == null) {
      model = find(models, 0); // the entry for a model that is broken as a whole
    }
    if (model == null) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "Request for unknown model: '" + name + "' version " + version + " is not found");
    }
    if (model.state() != ModelState.READY) {
      throw model.notReady();
    }
    return model;
  }

  /** True if an ensemble is loaded for the loads that take requests of its models now. */
  boolean isUpToDate(LoadedModel ensemble) {
    List<Ensemble.Step> steps = ensemble.ensembleSteps();
    for (int i = 0; i < steps.size(); i++) {
      if (current(steps.get(i)) != ensemble.steps().get(i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the load that takes requests for a step of an ensemble now; null: none does. */
  public LoadedModel current(Ensemble.Step step) {
    ModelEntry[] models = versions.getOrDefault(step.model(), new ModelEntry[0]);
    for (ModelEntry model : models) {
      boolean meant =
          step.version().isEmpty()
              ? model.takesAny()
              : step.version().getAsLong() == model.version();
      LoadedModel current = meant ? model.current() : null;
      if (current != null) {
        return current;
      }
    }
    return null;
  }

  /** Returns the load that takes requests for a step, with a use of it that the caller must end. */
  public LoadedModel use(Ensemble.Step step) {
    while (true) {
      LoadedModel current = current(step);
      if (current == null) {
        throw notReady(step);
      }
      if (current.addUser()) {
        return current;
      }
      // The load was replaced or unloaded since it was found.
      Thread.onSpinWait();
    }
  }

  private NereidException notReady(Ensemble.Step step) {
    String what =
        step.version().isEmpty()
            ? "' has no version that is ready"
            : "' version " + step.version().getAsLong() + " is not ready";
    String unknown = versions.containsKey(step.model()) ? "" : ": there is no such model";
    String reason =
        versions(step.model()).stream()
            .flatMap(model -> model.failure().stream())
            .findFirst()
            .map(failure -> ": " + failure)
            .orElse(unknown);
    return new NereidException(
        StatusCode.UNAVAILABLE, "step '" + ModelId.shown(step.model()) + what + reason);
  }

  private ModelEntry[] known(String name) {
    ModelEntry[] models = versions.get(name);
    if (models == null) {
      models = namesake(name);
    }
    if (models == null) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "Request for unknown model: '" + name + "' is not found");
    }
    return models;
  }

  /** The versions in the only name space that has the name; null when none has it. */
  private ModelEntry[] namesake(String name) {
    Set<String> keys = namesakes.getOrDefault(name, Set.of());
    if (keys.size() > 1) {
      throw ambiguous(name, keys.size());
    }
    return keys.stream().findFirst().map(versions::get).orElse(null);
  }

  /** The exception for a name that several models have. */
  public static NereidException ambiguous(String name, int count) {
    return Signature.invalid(
        ("there are %s models '%s' in different repositories: model namespace must be "
                + "provided to resolve ambiguity, as the step of an ensemble can")
            .formatted(count, name));
  }

  /** The keys of all models. */
  public Set<String> keys() {
    return Set.copyOf(versions.keySet());
  }

  /** All versions of one model, the highest first. */
  public List<ModelEntry> versions(String key) {
    return List.of(versions.getOrDefault(key, new ModelEntry[0]));
  }

  /** All versions of all models, by name, the highest version first. */
  public List<ModelEntry> all() {
    List<ModelEntry> all = new ArrayList<>();
    versions.values().forEach(models -> all.addAll(List.of(models)));
    all.sort(
        Comparator.comparing(ModelEntry::name)
            .thenComparing(Comparator.comparingLong(ModelEntry::version).reversed()));
    return List.copyOf(all);
  }
}
