package io.nereid.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Option;

/** Where models are: the bundled ones, unless other directories are named. */
final class RepositoryArguments {

  /** Held here: the logging system keeps loggers weakly, and would forget the level with them. */
  private static final Logger LOAD_LOG = Logger.getLogger("io.nereid.load");

  @Option(
      names = {"--model-repository", "--repository", "--model-store"},
      paramLabel = "DIR",
      description = "A model repository; repeatable. The bundled examples by default.")
  private List<Path> repositories = new ArrayList<>();

  /** The directories, with one more where it is not null. */
  List<Path> directories(Path more) {
    List<Path> all = new ArrayList<>(repositories);
    if (more != null) {
      all.add(more);
    }
    // The launcher says where the project is.
    return all.isEmpty()
        ? List.of(Path.of(System.getProperty("nereid.home", ""), "examples", "models"))
        : all;
  }

  /** For commands that tell why a model cannot be loaded, or how long it took, themselves. */
  static void muteLoadLog() {
    LOAD_LOG.setLevel(Level.OFF);
  }
}
