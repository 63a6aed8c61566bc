package io.nereid.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code nereid --version} prints. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    // Absent where the classes do not come from the jar, as in an IDE.
    String version = Main.class.getPackage().getImplementationVersion();
    return new String[] {
      "nereid " + (version == null ? "(unpackaged)" : version),
      "Java " + Runtime.version() + " on " + System.getProperty("os.arch")
    };
  }
}
