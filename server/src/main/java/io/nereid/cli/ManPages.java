package io.nereid.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Writes the manual pages of all commands; run when a distribution is made. */
public final class ManPages {

  private ManPages() {}

  /** Takes the directory they go to, which is made if need be. */
  public static void main(String[] args) throws IOException {
    if (args.length != 1) {
      throw new IllegalArgumentException(
          "expected the directory for the manual pages, got " + args.length + " arguments");
    }
    write(Main.commandLine(), Path.of(args[0]), new Version().getVersion()[0]);
  }

  static void write(CommandLine top, Path directory, String product) throws IOException {
    Files.createDirectories(directory);
    writeOne(top, directory, product);
    for (CommandLine command : top.getSubcommands().values()) {
      if (!command.getCommandSpec().usageMessage().hidden()) {
        writeOne(command, directory, product);
      }
    }
  }

  private static void writeOne(CommandLine command, Path directory, String product)
      throws IOException {
    CommandSpec spec = command.getCommandSpec();
    Path file = directory.resolve(ManPage.fileName(spec) + ".1");
    Files.writeString(file, ManPage.of(spec, product));
  }
}
