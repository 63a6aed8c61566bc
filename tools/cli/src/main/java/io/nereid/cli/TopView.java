package io.nereid.cli;

import io.nereid.server.metrics.Troubles;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Formats the looks of {@code nereid top} as lines and JSON. For one thread. */
final class TopView {

  private static final String RESET = "\033[0m";
  private static final String BOLD = "\033[1m";
  private static final String RED = "\033[31m";
  private static final String YELLOW = "\033[33m";

  private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);
  private static final int MOST_LETTERS = 120;

  private final String server;
  private final String absence;
  private final boolean colour;

  /** The looks of the last minute. */
  private final Deque<TopLook> looks = new ArrayDeque<>();

  /**
   * Makes the view of a server.
   *
   * @param first the look at which it begins
   * @param absence the reason why metrics are not available
   * @param colour whether problems are red
   */
  TopView(String server, TopLook first, String absence, boolean colour) {
    this.server = server;
    this.absence = absence;
    this.colour = colour;
    looks.add(first);
  }

  /** Adds a look; returns its models in an order. */
  List<TopRow> take(TopLook now, Comparator<TopRow> order) {
    TopLook before = looks.getLast();
    looks.add(now);
    while (looks.size() > 2
        && (now.ns() - looks.peek().ns() > MINUTE_NS || looks.peek().metrics().isEmpty())) {
      looks.remove();
    }
    return now.models().values().stream()
        .map(model -> TopRow.between(before, now, model))
        .sorted(order)
        .toList();
  }

  /** Returns the troubles of the last minute, or since the first look. */
  private Troubles recent() {
    TopLook first = looks.getFirst();
    TopLook last = looks.getLast();
    return first.metrics().isEmpty() || last.metrics().isEmpty()
        ? new Troubles(Map.of())
        : last.troubles().since(first.troubles());
  }

  private double recentSeconds() {
    return (looks.getLast().ns() - looks.getFirst().ns()) / 1e9;
  }

  // ---- Lines -----------------------------------------------------------------------------------

  List<String> lines(List<TopRow> models) {
    TopLook now = looks.getLast();
    double requests = models.stream().mapToDouble(row -> row.activity().requests()).sum();
    double failures = models.stream().mapToDouble(row -> row.activity().failures()).sum();
    double seconds = models.isEmpty() ? 1 : models.getFirst().seconds();
    List<String> lines = new ArrayList<>();
    lines.add(
        styled(
            BOLD,
            title(
                String.format(
                    Locale.ROOT,
                    "%d models, %s%.1f requests/s, %.1f failed/s",
                    models.size(),
                    now.failed().isEmpty() ? "" : now.failed().size() + " not loaded, ",
                    requests / seconds,
                    failures / seconds))));
    Troubles recent = recent();
    if (!recent.counts().isEmpty()) {
      lines.add(styled(RED, Texts.printable(troubleLine(recent))));
    }
    if (now.metrics().isEmpty()) {
      lines.add(
          styled(
              YELLOW,
              Texts.printable("without p99, waiting, instances and refused requests: " + absence)));
    }
    for (String each : now.failed()) {
      lines.add(styled(RED, Texts.printable("failed: " + Texts.cut(each, MOST_LETTERS))));
    }
    lines.add("");
    Texts.Table table = TopRow.table();
    models.forEach(row -> row.addTo(table));
    List<String> rows = table.lines();
    lines.add(styled(BOLD, rows.getFirst()));
    for (int i = 0; i < models.size(); i++) {
      boolean fails = models.get(i).activity().failures() > 0;
      lines.add(fails ? styled(RED, rows.get(i + 1)) : rows.get(i + 1));
    }
    return lines;
  }

  /** The title line with a text, such as that the server does not answer. */
  String title(String text) {
    LocalTime now = LocalTime.now().truncatedTo(ChronoUnit.SECONDS);
    return Texts.printable("nereid top, " + server + ", " + now + ": " + text);
  }

  private String troubleLine(Troubles recent) {
    long answers = recent.answers();
    String time = String.format(Locale.ROOT, "in the last %.0f s: ", recentSeconds());
    return answers == 0
        ? time + recent.line()
        : answers
            + (answers == 1 ? " request was" : " requests were")
            + " refused or failed "
            + time
            + recent.line();
  }

  private String styled(String style, String line) {
    return colour ? style + line + RESET : line;
  }

  // ---- JSON ------------------------------------------------------------------------------------

  Map<String, Object> inJson(List<TopRow> models, double seconds) {
    TopLook now = looks.getLast();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("seconds", seconds);
    object.put("failed", now.failed());
    object.put("troubles", now.metrics().isEmpty() ? null : troublesInJson());
    object.put("models", models.stream().map(TopRow::inJson).toList());
    return object;
  }

  private List<Map<String, Object>> troublesInJson() {
    Map<String, Long> recent = recent().counts();
    List<Map<String, Object>> troubles = new ArrayList<>();
    looks
        .getLast()
        .troubles()
        .counts()
        .forEach((what, total) -> {
          Map<String, Object> each = new LinkedHashMap<>();
          each.put("what", what);
          each.put("recent", recent.getOrDefault(what, 0L));
          each.put("total", total);
          troubles.add(each);
        });
    return troubles;
  }
}
