package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes a page of what the simulator printed. */
public final class SimulationBench {

  private SimulationBench() {}

  /** Started by {@code ./dev} with the file of lines and the page's. */
  public static void main(String[] args) throws IOException {
    Simulation simulation = Simulation.read(Path.of(args[0]));
    System.out.print(SimulationPage.bars(simulation).text());
    Path page = Files.writeString(Path.of(args[1]), SimulationPage.of(simulation));
    System.out.println("The report is " + page);
  }
}
