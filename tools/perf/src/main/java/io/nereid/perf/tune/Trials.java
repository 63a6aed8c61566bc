package io.nereid.perf.tune;

import io.nereid.perf.compare.Bootstrap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * Stores all measurements, including those of earlier runs: a line of JSON for each, written at
 * once, so that an aborted run loses nothing. For one thread.
 */
final class Trials {

  private final Path file;
  private final String subject;
  private final double limitUs;
  private final long memoryBytes;
  private final Map<String, List<Trial>> bySettings = new LinkedHashMap<>();

  /**
   * Reads the earlier measurements of the same subject.
   *
   * @param subject identifies measurements that can be compared
   * @param limitUs the longest p99 that is wanted; infinite: any
   * @param memoryBytes the most that a server may take
   */
  Trials(Path file, String subject, double limitUs, long memoryBytes) throws IOException {
    this.file = file;
    this.subject = subject;
    this.limitUs = limitUs;
    this.memoryBytes = memoryBytes;
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        read(line);
      }
    }
  }

  private void read(String line) {
    try {
      Map<String, Object> json = JSON.std.mapFrom(line);
      if (subject.equals(json.get("subject"))) {
        of((String) json.get("settings")).add(Trial.read(json));
      }
    } catch (JacksonException | ClassCastException | NullPointerException e) {
      return; // the last line of an aborted run
    }
  }

  private List<Trial> of(String settings) {
    return bySettings.computeIfAbsent(settings, text -> new ArrayList<>());
  }

  void add(Candidate settings, Trial trial) throws IOException {
    of(settings.text()).add(trial);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("subject", subject);
    json.put("settings", settings.text());
    json.putAll(trial.json());
    String line = JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(json) + "\n";
    Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** The number of candidates. */
  int size() {
    return bySettings.size();
  }

  /** Returns how often a candidate was measured; one that failed need not be tried again. */
  int count(Candidate settings) {
    Trial middle = middle(settings.text());
    return middle != null && middle.failure() != null
        ? Integer.MAX_VALUE
        : bySettings.getOrDefault(settings.text(), List.of()).size();
  }

  /** The middle of each figure by the text of the settings. */
  Map<String, Trial> middles() {
    Map<String, Trial> middles = new LinkedHashMap<>();
    bySettings.keySet().forEach(text -> middles.put(text, middle(text)));
    return middles;
  }

  Trial middle(Candidate settings) {
    return middle(settings.text());
  }

  /** The middle of a candidate's trials; null: none. */
  private Trial middle(String text) {
    List<Trial> all = bySettings.getOrDefault(text, List.of());
    for (Trial trial : all) {
      if (trial.failure() != null) {
        return trial;
      }
    }
    return all.isEmpty()
        ? null
        : new Trial(
            middle(all, Trial::perSecond),
            middle(all, Trial::p99Us),
            (long) middle(all, Trial::memoryBytes),
            null);
  }

  private static double middle(List<Trial> trials, ToDoubleFunction<Trial> figure) {
    return Bootstrap.median(trials.stream().mapToDouble(figure).toArray());
  }

  /** Rates a candidate: by its answers if they are in time, else by the distance from that. */
  double value(Candidate settings) {
    return value(middle(settings));
  }

  /** The same by the last measurement alone. */
  double lastValue(Candidate settings) {
    List<Trial> all = bySettings.get(settings.text());
    return value(all.get(all.size() - 1));
  }

  private double value(Trial trial) {
    if (trial == null || trial.failure() != null || trial.memoryBytes() > memoryBytes) {
      return 0;
    }
    return isInTime(trial) ? 1 + trial.perSecond() : limitUs / trial.p99Us();
  }

  boolean isInTime(Candidate settings) {
    return isInTime(middle(settings));
  }

  private boolean isInTime(Trial trial) {
    return trial != null && trial.failure() == null && trial.p99Us() <= limitUs;
  }
}
