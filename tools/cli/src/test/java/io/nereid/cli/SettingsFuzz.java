package io.nereid.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A target for fuzzing: any bytes as the file of --config. It is taken, or refused with a line that
 * says where.
 */
public final class SettingsFuzz {

  private static Path file;

  private SettingsFuzz() {}

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) throws IOException {
    if (file == null) {
      file = Files.createTempFile("nereid-settings", ".yaml");
      file.toFile().deleteOnExit();
    }
    Files.write(file, bytes);
    try {
      SettingsFile.read(file);
    } catch (SettingsFile.SettingsException e) {
      if (!e.getMessage().startsWith(file.toString())) {
        throw new AssertionError("a message without the place", e);
      }
    }
  }
}
