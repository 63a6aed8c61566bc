package io.nereid.cli;

import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The bundled models, where no other directory is named. */
final class RepositoryOption {

  /** Held here: the logging system keeps loggers weakly, and would forget the level with them. */
  private static final Logger LOAD_LOG = Logger.getLogger("io.nereid.load");

  private RepositoryOption() {}

  /** {@code chosen}, or the models beside the launcher, which tells where it is. */
  static Path resolve(Path chosen) {
    if (chosen != null) {
      return chosen;
    }
    return Path.of(System.getProperty("nereid.home", ""), "examples", "models");
  }

  /** For commands that tell why a model cannot be loaded themselves. */
  static void muteLoadFailures() {
    LOAD_LOG.setLevel(Level.OFF);
  }
}
