package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelPreview;
import io.nereid.model.ModelState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Describes the changes that loading a model again would make. */
final class ReloadJson {

  /** A value now and after loading; null: absent. */
  private record Change(String path, Value loaded, Value next) {

    boolean isChange() {
      if (next == null || next.origin() == Origin.DEFAULT) {
        // A value from the model's own file will come again.
        return loaded != null
            && loaded.origin() != Origin.MODEL
            && loaded.origin() != Origin.DEFAULT
            && (next == null || !next.text().equals(loaded.text()));
      }
      return loaded == null || !next.text().equals(loaded.text());
    }

    ConsoleJson json() {
      return new ConsoleJson()
          .with("path", path)
          .with("loaded", loaded == null ? null : loaded.text())
          .with("next", next == null ? null : next.text())
          .with("place", next == null ? "" : next.place());
    }
  }

  private ReloadJson() {}

  /** The answer for a model that does not come from a repository. */
  static ConsoleJson unknown() {
    return json(false, false, null, List.of(), Set.of(), Set.of(), List.of());
  }

  /**
   * The answer for a model of a repository.
   *
   * @param model the version that is compared
   * @param all the versions of the model
   */
  static ConsoleJson of(Model model, List<Model> all, ModelPreview preview) {
    String error = preview.failure().orElse(null);
    ModelConfiguration next = next(model, preview);
    boolean comparable = next != null && model.state() == ModelState.READY;
    List<Change> changes = comparable ? changes(model.configuration(), next) : List.of();
    Set<Long> added = new TreeSet<>(preview.versions().keySet());
    Set<Long> removed = new TreeSet<>();
    for (Model version : all) {
      if (version.state() == ModelState.READY) {
        added.remove(version.version());
        if (error == null && !preview.versions().containsKey(version.version())) {
          removed.add(version.version());
        }
      }
    }
    return json(preview.changed(), true, error, changes, added, removed, preview.files());
  }

  private static ConsoleJson json(
      boolean changed,
      boolean known,
      String error,
      List<Change> changes,
      Set<Long> added,
      Set<Long> removed,
      List<String> files) {
    return new ConsoleJson()
        .with("changed", changed)
        .with("known", known)
        .with("error", error)
        .with("place", ConsoleJson.place(error))
        .with("values", changes.stream().map(Change::json).toList())
        .with(
            "versions",
            new ConsoleJson()
                .with("added", added.stream().map(Object::toString).toList())
                .with("removed", removed.stream().map(Object::toString).toList()))
        .with("files", files);
  }

  /**
   * The configuration that the version would have; if it would be unloaded, that of the newest
   * version.
   */
  private static ModelConfiguration next(Model model, ModelPreview preview) {
    ModelConfiguration same = preview.versions().get(model.version());
    return same != null || preview.versions().isEmpty()
        ? same
        : preview.versions().get(Collections.max(preview.versions().keySet()));
  }

  private static List<Change> changes(ModelConfiguration loaded, ModelConfiguration next) {
    Map<String, Value> old = byPath(loaded);
    Map<String, Value> now = byPath(next);
    Set<String> paths = new LinkedHashSet<>(now.keySet());
    paths.addAll(old.keySet());
    List<Change> changes = new ArrayList<>();
    for (String path : paths) {
      Change change = new Change(path, old.get(path), now.get(path));
      if (change.isChange()) {
        changes.add(change);
      }
    }
    return changes;
  }

  private static Map<String, Value> byPath(ModelConfiguration configuration) {
    Map<String, Value> values = new LinkedHashMap<>();
    configuration.values().forEach(value -> values.put(value.path(), value));
    return values;
  }
}
