package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelPreview;
import io.nereid.model.ModelState;
import io.nereid.server.json.JsonBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Writes what loading a model again would change. */
final class ReloadJson {

  /** A value as it is and as it would be; null: it is not there. */
  private record Change(String path, Value loaded, Value next) {

    boolean isChange() {
      if (next == null || next.origin() == Origin.DEFAULT) {
        // The model's own file will tell again what it told.
        return loaded != null
            && loaded.origin() != Origin.MODEL
            && loaded.origin() != Origin.DEFAULT
            && (next == null || !next.text().equals(loaded.text()));
      }
      return loaded == null || !next.text().equals(loaded.text());
    }
  }

  private ReloadJson() {}

  /** Writes it for a model that does not come from a repository. */
  static void unknown(JsonBuffer json) {
    json.ascii(
        "{\"changed\":false,\"known\":false,\"error\":null,\"place\":null,\"values\":[],"
            + "\"versions\":{\"added\":[],\"removed\":[]},\"files\":[]}");
  }

  /**
   * Writes it.
   *
   * @param model the version that is compared
   * @param all the versions of the model
   */
  static void write(Model model, List<Model> all, ModelPreview preview, JsonBuffer json) {
    String error = preview.failure().orElse(null);
    ConsoleJson.bool(json.ascii("{\"changed\":"), preview.changed());
    ConsoleJson.text(json.ascii(",\"known\":true,\"error\":"), error);
    ConsoleJson.place(json.ascii(",\"place\":"), error);
    json.ascii(",\"values\":");
    ModelConfiguration next = next(model, preview);
    boolean comparable = next != null && model.state() == ModelState.READY;
    List<Change> changes = comparable ? changes(model.configuration(), next) : List.of();
    ConsoleJson.array(json, changes, change -> write(change, json));
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
    json.ascii(",\"versions\":{\"added\":");
    ConsoleJson.array(json, List.copyOf(added), number -> json.string(number.toString()));
    json.ascii(",\"removed\":");
    ConsoleJson.array(json, List.copyOf(removed), number -> json.string(number.toString()));
    json.ascii("},\"files\":");
    ConsoleJson.array(json, preview.files(), json::string);
    json.write('}');
  }

  /** The configuration that the version would have; the newest one's, where it would leave. */
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

  private static void write(Change change, JsonBuffer json) {
    json.ascii("{\"path\":").string(change.path);
    ConsoleJson.text(
        json.ascii(",\"loaded\":"), change.loaded == null ? null : change.loaded.text());
    ConsoleJson.text(json.ascii(",\"next\":"), change.next == null ? null : change.next.text());
    json.ascii(",\"place\":").string(change.next == null ? "" : change.next.place()).write('}');
  }
}
