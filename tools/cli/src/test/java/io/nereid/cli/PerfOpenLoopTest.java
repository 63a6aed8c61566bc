package io.nereid.cli;

import static io.nereid.cli.PerfFixture.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An open loop counts what a stalled server does to all who would have come. */
class PerfOpenLoopTest {

  private static final long STALL_NS = 600_000_000;

  /** A while after its first request it does nothing for a while, once until it is reset. */
  private static final class StallOnce {
    private long firstNs;
    private boolean stalled;

    synchronized void execute(Batch batch) {
      long nowNs = System.nanoTime();
      firstNs = firstNs == 0 ? nowNs : firstNs;
      if (!stalled && nowNs - firstNs > 700_000_000) {
        stalled = true;
        for (long leftNs = STALL_NS; leftNs > 0; leftNs = nowNs + STALL_NS - System.nanoTime()) {
          LockSupport.parkNanos(leftNs);
        }
      }
      batch.output("OUT", batch.input("IN"));
    }

    synchronized void reset() {
      firstNs = 0;
      stalled = false;
    }
  }

  @TempDir Path directory;

  /** Measures until a result shows the stall as expected: it may fall out of the windows. */
  private void expect(Predicate<Map<String, Object>> expected, String... arguments)
      throws Exception {
    StallOnce backend = new StallOnce();
    List<String> windows = List.of("--warm-up", "300", "-p", "600", "-r", "10000", "-s", "1000");
    try (PerfFixture fixture = new PerfFixture(directory, windows)) {
      fixture.ints("m", 1, context -> backend::execute);
      List<String> all = new ArrayList<>(List.of("m", "-u"));
      all.add(List.of(arguments).contains("grpc") ? fixture.grpc() : fixture.http());
      all.addAll(List.of(arguments));
      fixture.resultWith(
          result -> {
            backend.reset();
            return expected.test(result);
          },
          all.toArray(String[]::new));
    }
  }

  @Test
  void aClosedLoopHidesTheStall() throws Exception {
    expect(
        result ->
            number(result, "within_per_s") < number(result, "requests_per_s") // one stalled
                && number(result, "within_per_s") > 0.9 * number(result, "requests_per_s")
                && number(result, "latency_max_us") >= 600_000
                && number(result, "latency_p95_us") < 100_000,
        "--within",
        "100");
  }

  /** With one place the rest waits here, with many at the server: it is the same time. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-i http --max-outstanding 1",
        "-i http --max-outstanding 400",
        "-i grpc --max-outstanding 1",
        "-i grpc --max-outstanding 400"
      })
  void anOpenLoopShowsIt(String arguments) throws Exception {
    // 120 of 360 requests are due in these 600 ms, and wait for the rest of them.
    expect(
        result ->
            number(result, "requests") >= 30
                && number(result, "latency_max_us") >= 590_000
                && number(result, "latency_p90_us") >= 200_000
                && number(result, "latency_p95_us") >= 350_000,
        ("--rate 200 " + arguments).split(" "));
  }

  @Test
  void clientsThatDoNotKeepUpAreTold() throws Exception {
    PerfFixture fixture = new PerfFixture(directory, PerfFixture.BRIEFLY);
    try (fixture) {
      fixture.ints(
          "m",
          1,
          context ->
              batch -> {
                LockSupport.parkNanos(200_000_000); // a place is seldom free
                batch.output("OUT", batch.input("IN"));
              });
      String[] arguments = {
        "m", "-u", fixture.http(), "--rate", "1000", "--max-outstanding", "4", "-p", "500"
      };
      String told = "all 4 places (--max-outstanding) wait for the server";
      Map<String, Object> result =
          fixture.resultWith(any -> fixture.printed().contains(told), arguments);
      assertEquals(false, result.get("keeps_up"), fixture::printed);
      assertTrue(number(result, "backlog") > 100, fixture::printed);
    }
  }
}
