package io.nereid.server.console;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The server at one moment, and the events about it: each is made once, at the first use, however
 * many pages are open. Any thread may call.
 */
final class Snapshot {

  private static final byte[] END = {'\n', '\n'};

  private final long seq;
  private final long timeMs;
  private final long intervalMs;
  private final ConsoleJson server;
  private final List<ModelFigures> models;

  /** The lines of the models by their keys, without their history. */
  private final Map<String, ConsoleJson> lines = new LinkedHashMap<>();

  /** The differences from the snapshot before; null: none. */
  private final Changes changes;

  private final Map<String, byte[]> events = new ConcurrentHashMap<>();

  private record Changes(List<String> models, List<String> gone) {}

  /**
   * Makes a snapshot with the figures.
   *
   * @param before the one before it, whose figures are released; null: none
   * @param server the figures of the server itself
   */
  Snapshot(
      Snapshot before,
      long timeMs,
      long intervalMs,
      ConsoleJson server,
      List<ModelFigures> models) {
    seq = before == null ? 1 : before.seq + 1;
    this.timeMs = timeMs;
    this.intervalMs = intervalMs;
    this.server = server;
    this.models = models;
    for (ModelFigures model : models) {
      lines.put(model.key(), OverviewJson.model(model));
    }
    changes = before == null ? null : changesSince(before.lines);
  }

  private Changes changesSince(Map<String, ConsoleJson> before) {
    List<String> changed =
        lines.entrySet().stream()
            .filter(line -> !line.getValue().equals(before.get(line.getKey())))
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

  /** The members that each event begins with. */
  ConsoleJson head() {
    return new ConsoleJson()
        .with("seq", seq)
        .with("time_ms", timeMs)
        .with("interval_ms", intervalMs);
  }

  /** A version of a model; 0: the one that takes requests, else the highest. */
  Optional<ModelFigures> model(String name, long version) {
    List<ModelFigures> its =
        models.stream()
            .filter(model -> model.name().equals(name))
            .filter(model -> version == 0 || model.number() == version)
            .toList();
    return its.stream()
        .filter(model -> model.isReady() && (version != 0 || model.shadow().isEmpty()))
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

  /** The event of the overview for a page that has last seen another snapshot; 0: none. */
  byte[] overview(long seen) {
    return seen == seq - 1 && changes != null
        ? events.computeIfAbsent("changes", name -> event(name, changes()))
        : events.computeIfAbsent("overview", name -> event(name, whole()));
  }

  /**
   * The event of one version of a model.
   *
   * @param first whether the page has seen none yet
   */
  byte[] model(ModelFigures model, boolean first) {
    return events.computeIfAbsent(
        (first ? "first " : "next ") + model.key(),
        key -> event("model", ModelJson.of(this, model, first)));
  }

  private ConsoleJson whole() {
    List<ConsoleJson> all = new ArrayList<>();
    for (ModelFigures model : models) {
      ConsoleJson line = new ConsoleJson();
      line.putAll(lines.get(model.key()));
      all.add(line.with("history", model.history().busy()));
    }
    return head().with("server", server).with("models", all).with("gone", List.of());
  }

  private ConsoleJson changes() {
    return head()
        .with("server", server)
        .with("models", changes.models.stream().map(lines::get).toList())
        .with("gone", changes.gone);
  }

  /** Encodes an event for the wire; the JSON has no line ends. */
  static byte[] event(String name, ConsoleJson data) {
    ByteArrayOutputStream event = new ByteArrayOutputStream();
    event.writeBytes(("event: " + name + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
    event.writeBytes(data.bytes());
    event.writeBytes(END);
    return event.toByteArray();
  }
}
