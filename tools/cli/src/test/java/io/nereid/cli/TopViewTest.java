package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.ModelUsage;
import io.nereid.client.ModelUsage.Batches;
import io.nereid.client.ModelUsage.Times;
import io.nereid.server.metrics.Scrape;
import io.nereid.server.metrics.Troubles;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Lines of {@code nereid top} between two looks. */
class TopViewTest {

  private static final long SECOND_NS = 1_000_000_000;
  private static final Times NONE = new Times(0, 0);

  /** A model that answered requests of 10 ms each, and failed some, since it was loaded. */
  private static ModelUsage usage(long answered, long failed) {
    Times times = new Times(answered, answered * 10_000_000);
    return new ModelUsage(
        "m",
        "1",
        Optional.empty(),
        answered,
        answered,
        times,
        new Times(failed, 0),
        NONE,
        NONE,
        times,
        NONE,
        NONE,
        NONE,
        List.of(new Batches(1, NONE, times, NONE)),
        Map.of());
  }

  private static Scrape metrics(long fast, long all, long refused) {
    String bucket =
        "nereid_inference_request_duration_seconds_bucket{model=\"m\",version=\"1\",le=";
    return Scrape.parse(
        bucket
            + "\"0.01\"} "
            + fast
            + "\n"
            + bucket
            + "\"0.02\"} "
            + all
            + "\n"
            + bucket
            + "\"+Inf\"} "
            + all
            + "\nnereid_instances{model=\"m\",version=\"1\"} 2\n"
            + "nv_inference_pending_request_count{model=\"m\",version=\"1\"} 7\n"
            + "nereid_http_requests_total{method=\"POST\",route=\"/x\",status=\"400\"} "
            + refused
            + "\nnereid_http_requests_total{method=\"GET\",route=\"/v2/health/ready\",status=\"503\"} "
            + refused
            + "\n");
  }

  private static TopLook look(long second, ModelUsage usage, Optional<Scrape> metrics) {
    return new TopLook(
        second * SECOND_NS,
        Map.of(TopLook.key(usage), usage),
        List.of("broken 1: it is not there"),
        metrics,
        metrics.map(Troubles::of).orElse(new Troubles(Map.of())));
  }

  private static List<String> lines(boolean colour, boolean withMetrics) {
    TopLook before =
        look(100, usage(0, 0), withMetrics ? Optional.of(metrics(0, 0, 5)) : Optional.empty());
    TopLook after =
        look(
            102, usage(100, 4), withMetrics ? Optional.of(metrics(90, 100, 36)) : Optional.empty());
    TopView view = new TopView("there", before, "say --metrics-url", colour);
    return view.lines(view.take(after, Comparator.comparingDouble(TopRow::p99Ms)));
  }

  @Test
  void figuresAreThoseBetweenTheLooks() {
    String text = String.join("\n", lines(false, true));
    assertFalse(text.contains("\033"), text);
    assertTrue(text.contains("1 models, 1 not loaded, 50.0 requests/s, 2.0 failed/s"), text);
    assertTrue(
        text.contains("31 requests were refused or failed in the last 2 s: 31 × HTTP 400\n"), text);
    assertTrue(text.contains("failed: broken 1: it is not there"), text);
    String row = text.lines().filter(line -> line.startsWith("m ")).findFirst().orElseThrow();
    // The 99th is nine tenths into the second bucket, and half an instance executed.
    assertTrue(row.contains(" 19.000 "), row);
    assertTrue(row.contains(" 7 "), row);
    assertTrue(row.contains("[||      ] 0.5 of 2"), row);
  }

  @Test
  void failuresAreRed() {
    List<String> lines = lines(true, true);
    assertEquals(
        3, lines.stream().filter(line -> line.startsWith("\033[31m")).count(), lines::toString);
    assertTrue(
        lines.stream()
            .filter(line -> line.contains("\033"))
            .allMatch(line -> line.endsWith("\033[0m")));
  }

  @Test
  void absenceOfMetricsIsSaid() {
    String text = String.join("\n", lines(false, false));
    assertTrue(text.contains("say --metrics-url"), text);
    assertFalse(text.contains("HTTP 400"), text);
    String row = text.lines().filter(line -> line.startsWith("m ")).findFirst().orElseThrow();
    assertTrue(row.contains("0.5 of -"), row);
  }
}
