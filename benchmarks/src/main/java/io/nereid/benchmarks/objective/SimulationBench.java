package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes a page of what the simulator found. */
public final class SimulationBench {

  private SimulationBench() {}

  /** Started by {@code ./dev} with the file of plays, that of the words, and the page's. */
  public static void main(String[] args) throws IOException {
    Simulation simulation = Simulation.read(Path.of(args[0]), Path.of(args[1]));
    Path page = Files.writeString(Path.of(args[2]), SimulationPage.of(simulation));
    System.out.println("The report is " + page);
  }
}
