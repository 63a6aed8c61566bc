package io.nereid.perf;

import io.nereid.perf.RecordedRequests.Arrival;
import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Json;
import io.nereid.perf.report.Table;
import io.nereid.recording.RecordedCall;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/** Compares the results of a recording's requests, sent again, with the recorded ones. */
public final class ReplayReport {

  private static final List<Double> PERCENTILES = List.of(50.0, 90.0, 95.0, 99.0, 99.9, 100.0);

  private static final String MEANING =
      "recorded: from the request's handing over to the model until its answer was there; replayed:"
          + " from when it was due until its reply was read";

  /** The figures of the requests to one model. */
  private static final class OfModel {
    private final Histogram recorded = new Histogram(Tally.DIGITS);
    private final Histogram replayed = new Histogram(Tally.DIGITS);
    private int recordedFailures;
    private int failures;
    private int newFailures;
    private int unanswered;
  }

  private final double speed; // infinite: as fast as possible
  private final String where;
  private final String source;
  private final int count;
  private final long recordedNs;
  private final long tookNs;
  private final long dropped;
  private final List<String> damage;
  private final String firstError;
  private final Histogram late = new Histogram(Tally.DIGITS);
  private final Map<String, OfModel> models = new TreeMap<>();
  private int held;

  ReplayReport(
      double speed,
      String where,
      RecordedRequests requests,
      List<ReplayRun.End> ends,
      long tookNs,
      String firstError) {
    this.speed = speed;
    this.where = where;
    this.tookNs = tookNs;
    this.firstError = firstError;
    source = requests.directory().toString();
    dropped = requests.dropped();
    damage = requests.damage();
    count = requests.arrivals().size();
    recordedNs = requests.arrivals().get(requests.arrivals().size() - 1).offsetNs();
    for (Arrival arrival : requests.arrivals()) {
      OfModel model = models.computeIfAbsent(arrival.call().model(), name -> new OfModel());
      model.unanswered++;
      if (arrival.call().status() == StatusCode.OK) {
        model.recorded.recordValue(Math.max(0, arrival.call().durationNs()));
      } else {
        model.recordedFailures++;
      }
    }
    ends.forEach(this::add);
  }

  private void add(ReplayRun.End end) {
    RecordedCall call = end.arrival().call();
    OfModel model = models.get(call.model());
    model.unanswered--;
    if (end.status().equals("OK")) {
      model.replayed.recordValue(Math.max(0, end.latencyNs()));
    } else {
      model.failures++;
      model.newFailures += call.status() == StatusCode.OK ? 1 : 0;
    }
    if (end.held()) {
      held++;
    } else {
      late.recordValue(Math.max(0, end.lateNs()));
    }
  }

  /** The requests that were answered in the recording, but failed or had no answer now. */
  public int newFailures() {
    return models.values().stream().mapToInt(model -> model.newFailures + model.unanswered).sum();
  }

  // ---- In words --------------------------------------------------------------------------------

  private String subject() {
    return String.format(
        Locale.ROOT,
        "%d requests of %s to %s, %s: %.1f s, recorded in %.1f s",
        count,
        source,
        where,
        isTimed() ? String.format(Locale.ROOT, "%sx", number(speed)) : "as fast as it goes",
        tookNs / 1e9,
        recordedNs / 1e9);
  }

  private boolean isTimed() {
    return !Double.isInfinite(speed);
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>();
    if (isTimed()) {
      notes.add(
          String.format(
              Locale.ROOT,
              "sent late by p50 %s us, p99 %s us, at most %s us",
              us(late, 50),
              us(late, 99),
              us(late, 100)));
    }
    if (held > 0) {
      notes.add(held + " requests waited for the answer to the one before in their sequence");
    }
    if (dropped > 0) {
      notes.add(dropped + " requests were dropped while they were recorded, and are missing here");
    }
    damage.forEach(text -> notes.add("the recording is damaged: " + text));
    models.forEach((name, model) -> {
      if (model.newFailures + model.unanswered > 0) {
        notes.add(
            "%s: %d requests failed that had been answered, %d have no answer"
                .formatted(name, model.newFailures, model.unanswered));
      }
    });
    if (firstError != null) {
      notes.add("first failure: " + ErrorText.printable(firstError));
    }
    return notes;
  }

  private static String us(Histogram histogram, double percentile) {
    return TextReport.us(histogram.getValueAtPercentile(percentile) / 1e3);
  }

  private Table table() {
    Table table =
        new Table(
            List.of(
                "MODEL", "", "REQUESTS", "FAILED", "P50 US", "P90", "P95", "P99", "P99.9", "MAX"));
    models.forEach((name, model) -> {
      table.add(row(name, "recorded", model.recorded, model.recordedFailures));
      table.add(row("", "replayed", model.replayed, model.failures));
    });
    return table;
  }

  private static List<String> row(String name, String which, Histogram latency, int failures) {
    List<String> row = new ArrayList<>(List.of(name, which));
    row.add(Long.toString(latency.getTotalCount() + failures));
    row.add(Integer.toString(failures));
    PERCENTILES.forEach(percentile -> row.add(us(latency, percentile)));
    return row;
  }

  /** The report for a terminal. */
  public String text() {
    StringBuilder text = new StringBuilder(subject() + "\n" + MEANING + "\n\n" + table().text());
    notes().forEach(note -> text.append(" ! ").append(note).append('\n'));
    return text.toString();
  }

  /** The report as a page. */
  public String html() {
    HtmlPage page = new HtmlPage("Replay of " + source);
    page.paragraph(subject());
    page.paragraph(MEANING);
    models.forEach((name, model) ->
        page.figure(
            name + ": latency in milliseconds, by percentile",
            HtmlPage.legend(List.of("recorded", "replayed"))
                + Chart.lines(
                    "latencies by percentile, recorded and replayed",
                    "requests that took longer: one of",
                    "milliseconds",
                    true,
                    List.of(
                        series("recorded", model.recorded), series("replayed", model.replayed)))));
    page.table(table());
    page.list("Notes", notes());
    return page.toString();
  }

  private static Chart.Series series(String name, Histogram latency) {
    List<Chart.Point> points = new ArrayList<>();
    for (double percentile : List.of(50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9)) {
      double ms = latency.getValueAtPercentile(percentile) / 1e6;
      points.add(
          new Chart.Point(
              100 / (100 - percentile),
              ms,
              String.format(Locale.ROOT, "p%s: %.3f ms", number(percentile), ms)));
    }
    return new Chart.Series(name, points);
  }

  /** The report as JSON. */
  public String json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("recording", source);
    json.put("target", where);
    json.put("speed", isTimed() ? speed : null);
    json.put("requests", count);
    json.put("recorded_s", recordedNs / 1e9);
    json.put("took_s", tookNs / 1e9);
    json.put("arrival_error_us", isTimed() ? percentiles(late) : null);
    json.put("held", held);
    json.put("dropped", dropped);
    Map<String, Object> byName = new LinkedHashMap<>();
    models.forEach((name, model) -> {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("recorded_failures", model.recordedFailures);
      fields.put("failures", model.failures);
      fields.put("new_failures", model.newFailures);
      fields.put("unanswered", model.unanswered);
      fields.put("recorded_us", percentiles(model.recorded));
      fields.put("replayed_us", percentiles(model.replayed));
      byName.put(name, fields);
    });
    json.put("models", byName);
    json.put("first_failure", firstError);
    return Json.text(json);
  }

  private static Map<String, Object> percentiles(Histogram histogram) {
    Map<String, Object> values = new LinkedHashMap<>();
    Function<Double, Double> us = percentile -> histogram.getValueAtPercentile(percentile) / 1e3;
    PERCENTILES.forEach(
        each -> values.put(each == 100 ? "max" : "p" + number(each), us.apply(each)));
    return values;
  }
}
