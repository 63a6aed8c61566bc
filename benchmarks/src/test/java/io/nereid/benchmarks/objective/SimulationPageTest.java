package io.nereid.benchmarks.objective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.benchmarks.objective.Simulation.Play;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the lines of the simulator. */
class SimulationPageTest {

  private static String line(String load, String policy, int kept, int late, double p99Ms) {
    return "{\"machine\":\"m\",\"load\":\"%s\",\"policy\":\"%s\",\"offered\":1000,\"kept\":%d,"
            .formatted(load, policy, kept)
        + "\"late\":%d,\"refused\":%d,\"goodput\":%d.5,\"p99_ms\":%s}"
            .formatted(late, 1000 - kept - late, kept, p99Ms);
  }

  private static final List<String> PLAYS =
      List.of(
          line("poisson 0.5", "objective", 990, 4, 17.5),
          line("poisson 0.5", "8 rows, delay 0 ms", 700, 300, 40),
          line("poisson 0.5", "8 rows, delay 2 ms, timeout 5 ms", 950, 0, 19),
          line("step", "8 rows, delay 0 ms", 800, 200, 60),
          line("step", "8 rows, delay 2 ms, timeout 5 ms", 600, 0, 19),
          line("step", "aimd", 123, 877, 99));

  private static final String WORDS =
      """
      m: 2 instances, objective p99 20.000 ms, feasible load 1200.0 requests/s
        poisson 0.5: 600 requests/s
          objective                  594.0/s  99.0% kept
        met     steady: 0.95 of the best static setting                    1.042 (poisson 0.5)
        MISSED  changing: 1.3 of the best without timeouts                 1.100 (step)
      shared: 2 instances, of three models
        met     feasible: who keeps least keeps 0.99                       0.998
      """;

  @TempDir Path directory;

  private Simulation read() throws Exception {
    return Simulation.read(
        Files.write(directory.resolve("plays"), PLAYS),
        Files.writeString(directory.resolve("words"), WORDS));
  }

  @Test
  void theBestSettingOfALoadIsNotThatOfAllLoads() throws Exception {
    Simulation simulation = read();
    Play best = simulation.best("m", "poisson 0.5", Play::isStatic);
    assertEquals("8 rows, delay 2 ms, timeout 5 ms", best.policy());
    assertFalse(best.isPatient());
    assertEquals(0.5, best.times());
    assertEquals("8 rows, delay 0 ms", simulation.best("m", "step", Play::isStatic).policy());
    assertEquals("8 rows, delay 2 ms, timeout 5 ms", simulation.bestSingle("m", Play::isStatic));
    assertEquals("8 rows, delay 0 ms", simulation.bestSingle("m", Play::isPatient));
  }

  @Test
  void thePageHasAllOfIt() throws Exception {
    String page = SimulationPage.of(read());
    for (String text :
        List.of(
            "99.0 %",
            "12.3 %",
            "0.4 %",
            "17.5",
            "feasible load 1200.0 requests/s",
            "1.100 (step)",
            "MISSED",
            "shared",
            "0.998",
            "changing: 1.3 of the best without timeouts",
            "990.5 requests/s in time")) {
      assertTrue(page.contains(text), "no '" + text + "' in " + page);
    }
  }
}
