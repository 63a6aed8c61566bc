package io.nereid.cli;

import static io.nereid.cli.PerfFixture.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An open loop counts what a stalled server does to all who would have come. */
class PerfOpenLoopTest {

  private static final long STALL_NS = 600_000_000;

  /** A while after its first request it does nothing for a while, once. */
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
  }

  @TempDir Path directory;

  private PerfFixture start() {
    PerfFixture fixture =
        new PerfFixture(
            directory, List.of("--warm-up", "300", "-p", "600", "-r", "3", "-s", "1000"));
    StallOnce backend = new StallOnce();
    fixture
        .server
        .nereid()
        .load(
            ModelSpec.builder("m")
                .input("IN", DataType.INT32, 1)
                .output("OUT", DataType.INT32, 1)
                .backend(context -> backend::execute)
                .build());
    return fixture;
  }

  @Test
  void aClosedLoopHidesTheStall() throws Exception {
    try (PerfFixture fixture = start()) {
      Map<String, Object> result = fixture.result("m", "-u", fixture.http(), "--within", "100");
      double within = number(result, "within_per_s");
      assertTrue(within < number(result, "requests_per_s"), fixture::printed); // one stalled
      assertTrue(within > 0.9 * number(result, "requests_per_s"), fixture::printed);
      assertTrue(number(result, "latency_max_us") >= 600_000, fixture::printed);
      assertTrue(number(result, "latency_p95_us") < 100_000, fixture::printed);
    }
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
    try (PerfFixture fixture = start()) {
      String[] parts = arguments.split(" ");
      String address = parts[1].equals("http") ? fixture.http() : fixture.grpc();
      Map<String, Object> result =
          fixture.result(
              "m", "-u", address, "--rate", "200", parts[0], parts[1], parts[2], parts[3]);
      // 120 of 360 requests are due in these 600 ms, and wait for the rest of them.
      assertTrue(number(result, "requests") >= 30, fixture::printed);
      assertTrue(number(result, "latency_max_us") >= 590_000, fixture::printed);
      assertTrue(number(result, "latency_p90_us") >= 200_000, fixture::printed);
      assertTrue(number(result, "latency_p95_us") >= 350_000, fixture::printed);
    }
  }

  @Test
  void clientsThatDoNotKeepUpAreTold() throws Exception {
    PerfFixture fixture = new PerfFixture(directory, PerfFixture.BRIEFLY);
    try (fixture) {
      fixture
          .server
          .nereid()
          .load(
              ModelSpec.builder("m")
                  .input("IN", DataType.INT32, 1)
                  .output("OUT", DataType.INT32, 1)
                  .backend(context ->
                      batch -> {
                        LockSupport.parkNanos(200_000_000); // a place is seldom free
                        batch.output("OUT", batch.input("IN"));
                      })
                  .build());
      Map<String, Object> result =
          fixture.result(
              "m", "-u", fixture.http(), "--rate", "1000", "--max-outstanding", "4", "-p", "500");
      assertEquals(false, result.get("keeps_up"), fixture::printed);
      assertTrue(number(result, "backlog") > 100, fixture::printed);
      assertTrue(
          fixture.printed().contains("all 4 places (--max-outstanding) wait for the server"),
          fixture::printed);
    }
  }
}
