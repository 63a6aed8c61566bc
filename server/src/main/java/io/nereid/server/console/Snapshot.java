package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The server at one moment, and the events about it: each is made once, by whoever needs it first,
 * however many pages are open. From any thread.
 */
final class Snapshot {

  private final long seq;
  private final long timeMs;
  private final long intervalMs;
  private final byte[] server;
  private final List<ModelFigures> models;

  /** The lines of the models by their keys, without their history. */
  private final Map<String, byte[]> lines = new LinkedHashMap<>();

  /** The differences from the snapshot before; null: there was none. */
  private final Changes changes;

  private final Map<String, byte[]> events = new ConcurrentHashMap<>();

  private record Changes(List<String> models, List<String> gone) {}

  /**
   * Takes the figures.
   *
   * @param before the one before it, whose figures are let go of; null: there is none
   * @param server JSON of what belongs to no model
   */
  Snapshot(
      Snapshot before, long timeMs, long intervalMs, byte[] server, List<ModelFigures> models) {
    seq = before == null ? 1 : before.seq + 1;
    this.timeMs = timeMs;
    this.intervalMs = intervalMs;
    this.server = server;
    this.models = models;
    for (ModelFigures model : models) {
      lines.put(model.key(), bytes(json -> OverviewJson.model(model, json)));
    }
    changes = before == null ? null : changesSince(before.lines);
  }

  private Changes changesSince(Map<String, byte[]> before) {
    List<String> changed =
        lines.entrySet().stream()
            .filter(line -> !Arrays.equals(line.getValue(), before.get(line.getKey())))
            .map(Map.Entry::getKey)
            .toList();
    List<String> gone = before.keySet().stream().filter(key -> !lines.containsKey(key)).toList();
    return new Changes(changed, gone);
  }

  /** The number of this snapshot. */
  long seq() {
    return seq;
  }

  long timeMs() {
    return timeMs;
  }

  long intervalMs() {
    return intervalMs;
  }

  /** The version of a model that answers requests, else the highest; version 0: any. */
  Optional<ModelFigures> model(String name, long version) {
    List<ModelFigures> its =
        models.stream()
            .filter(model -> model.name().equals(name))
            .filter(model -> version == 0 || model.number() == version)
            .toList();
    return its.stream()
        .filter(ModelFigures::isReady)
        .findFirst()
        .or(() -> its.stream().findFirst());
  }

  /** All versions of a model. */
  List<ModelFigures> versions(ModelFigures one) {
    return models.stream()
        .filter(model -> model.name().equals(one.name()))
        .filter(model -> model.namespace().equals(one.namespace()))
        .toList();
  }

  // ---- Events ----------------------------------------------------------------------------------

  /** The event of the overview for a page that has seen another one; 0: none. */
  byte[] overview(long seen) {
    return seen == seq - 1 && changes != null
        ? events.computeIfAbsent("changes", name -> event(name, this::changes))
        : events.computeIfAbsent("overview", name -> event(name, this::whole));
  }

  /**
   * The event of one version of a model.
   *
   * @param first whether its page has seen none yet
   */
  byte[] model(ModelFigures model, boolean first) {
    return events.computeIfAbsent(
        (first ? "first " : "next ") + model.key(),
        key -> event("model", json -> new ModelJson(this, model).write(first, json)));
  }

  private void whole(JsonBuffer json) {
    head(json);
    ConsoleJson.array(
        json,
        models,
        model -> {
          byte[] line = lines.get(model.key());
          json.write(line, 0, line.length - 1);
          json.ascii(",\"history\":");
          model.history().writeBusy(json);
          json.write('}');
        });
    json.ascii(",\"gone\":[]}");
  }

  private void changes(JsonBuffer json) {
    head(json);
    ConsoleJson.array(
        json,
        changes.models,
        key -> {
          byte[] line = lines.get(key);
          json.write(line, 0, line.length);
        });
    json.ascii(",\"gone\":");
    ConsoleJson.array(json, changes.gone, json::string);
    json.write('}');
  }

  private void head(JsonBuffer json) {
    json.ascii("{\"seq\":").number(seq);
    json.ascii(",\"time_ms\":").number(timeMs);
    json.ascii(",\"interval_ms\":").number(intervalMs);
    json.ascii(",\"server\":").write(server, 0, server.length);
    json.ascii(",\"models\":");
  }

  /** An event as it goes over the wire; JSON has no line ends. */
  static byte[] event(String name, Consumer<JsonBuffer> data) {
    return bytes(json -> {
      json.ascii("event: ").ascii(name).ascii("\ndata: ");
      data.accept(json);
      json.ascii("\n\n");
    });
  }

  static byte[] bytes(Consumer<JsonBuffer> writing) {
    JsonBuffer json = new JsonBuffer();
    writing.accept(json);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) json.size());
    try {
      json.writeTo(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
