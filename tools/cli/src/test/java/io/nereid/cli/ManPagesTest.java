package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

class ManPagesTest {

  /** What would be taken for macros, escapes or hyphens if it went into roff as it is. */
  @Command(
      name = "odd",
      description = ".TH is text here, 100%% of it.",
      footer = {"'quoted'", "a\\b"})
  private static final class Odd implements Runnable {
    @Option(
        names = "--in-all",
        paramLabel = "N",
        defaultValue = "7",
        description = "Count; ${DEFAULT-VALUE} by default.")
    private int count;

    @Override
    public void run() {}
  }

  @Test
  void everyCommandHasAPageWithAllItsOptions(@TempDir Path directory) throws Exception {
    CommandLine top = Main.commandLine();
    ManPages.write(top, directory, "nereid 1");
    for (CommandLine command : top.getSubcommands().values()) {
      String name = "nereid-" + command.getCommandName();
      List<String> lines = Files.readAllLines(directory.resolve(name + ".1"));
      assertTrue(lines.getFirst().startsWith(".TH \"NEREID-"), lines.getFirst());
      String page = String.join("\n", lines);
      for (OptionSpec option : command.getCommandSpec().options()) {
        String flag = "\\fB" + option.longestName().replace("-", "\\-") + "\\fR";
        assertEquals(!option.hidden(), page.contains(flag), name + " " + option.longestName());
      }
    }
    try (var files = Files.list(directory)) {
      assertEquals(
          top.getSubcommands().size() + 1,
          files.collect(Collectors.toCollection(TreeSet::new)).size());
    }
  }

  @Test
  void textOfACommandIsNoRoff() {
    String page = ManPages.of(new CommandLine(new Odd()).getCommandSpec(), "nereid 1");
    List<String> lines = page.lines().toList();
    assertTrue(lines.contains("\\&.TH is text here, 100% of it."), page);
    assertTrue(lines.contains("\\&'quoted'"), page);
    assertTrue(lines.contains("a\\eb"), page);
    assertTrue(lines.contains("Count; 7 by default."), page);
    assertTrue(lines.contains("\\fB\\-\\-in\\-all\\fR\\fI=N\\fR"), page);
  }
}
