package io.nereid.benchmarks.objective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the lines of the simulator. */
class SimulationPageTest {

  private static final String LINES =
      """
      {"kind":"result","machine":"m","load":"poisson 0.5","times":0.5,"policy":"objective","setting":"","timeout":false,"offered":1000,"kept":990,"late":4,"refused":6,"p99_ms":17.5}
      {"kind":"result","machine":"m","load":"poisson 0.5","times":0.5,"policy":"static","setting":"delay 0","timeout":false,"offered":1000,"kept":700,"late":300,"refused":0,"p99_ms":40}
      {"kind":"result","machine":"m","load":"poisson 0.5","times":0.5,"policy":"static","setting":"delay 2","timeout":true,"offered":1000,"kept":950,"late":0,"refused":50,"p99_ms":19}
      {"kind":"result","machine":"m","load":"step","times":0,"policy":"static","setting":"delay 0","timeout":false,"offered":1000,"kept":800,"late":200,"refused":0,"p99_ms":60}
      {"kind":"result","machine":"m","load":"step","times":0,"policy":"static","setting":"delay 2","timeout":true,"offered":1000,"kept":600,"late":0,"refused":400,"p99_ms":19}
      {"kind":"result","machine":"m","load":"step","times":0,"policy":"aimd","setting":"","timeout":false,"offered":1000,"kept":123,"late":877,"refused":0,"p99_ms":99}
      {"kind":"series","machine":"m","load":"step","policy":"objective","t":[0,1],"offered":[10,20],"goodput":[10,15],"p99_ms":[3,4]}
      {"kind":"curve","machine":"m","rows":[1,2],"true_ms":[1,2],"learned_ms":[1.1,2.1]}
      {"kind":"bar","name":"steady","wanted":0.95,"worst":0.9,"met":false,"text":"m, poisson 0.5"}
      {"kind":"something new"}
      """;

  @TempDir Path directory;

  private Simulation read() throws Exception {
    return Simulation.read(Files.writeString(directory.resolve("lines"), LINES));
  }

  @Test
  void theBestSettingOfALoadIsNotThatOfAllLoads() throws Exception {
    Simulation simulation = read();
    assertEquals(
        "delay 2",
        simulation.best("m", "poisson 0.5", play -> play.policy().equals("static")).setting());
    assertEquals(
        "delay 0", simulation.best("m", "step", play -> play.policy().equals("static")).setting());
    assertEquals("delay 2", simulation.bestSingle("m", Simulation.Play::timeout));
    assertEquals("delay 2", simulation.bestSingle("m", play -> true)); // 1.55 beside 1.5
  }

  @Test
  void thePageHasAllOfIt() throws Exception {
    Simulation simulation = read();
    assertTrue(SimulationPage.bars(simulation).text().contains("0.900  NO"), "the bars");
    String page = SimulationPage.of(simulation);
    for (String text :
        new String[] {
          "99.0 %",
          "aimd 12.3 %",
          "0.4 %",
          "17.5",
          "Over time: step, objective",
          "learned",
          "delay 2"
        }) {
      assertTrue(page.contains(text), "no '" + text + "' in " + page);
    }
  }
}
