package io.nereid.cli;

import java.nio.file.Path;

/** The bundled models, where no other directory is named. */
final class RepositoryOption {

  private RepositoryOption() {}

  /** {@code chosen}, or the models beside the launcher, which tells where it is. */
  static Path resolve(Path chosen) {
    if (chosen != null) {
      return chosen;
    }
    return Path.of(System.getProperty("nereid.home", ""), "examples", "models");
  }
}
