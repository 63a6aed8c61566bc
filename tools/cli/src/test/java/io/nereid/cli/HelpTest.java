package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

/** The help texts. */
class HelpTest {

  @Test
  void everyOptionOfServeIsThereOnceUnderAHeading() {
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run("serve", "--help"));
    String help = run.out();
    for (String heading :
        List.of("Models", "HTTP", "Access", "Metrics", "Start and stop", "General")) {
      assertTrue(help.contains("\n\n" + heading + ":\n"), help);
    }
    for (OptionSpec option :
        Main.commandLine().getSubcommands().get("serve").getCommandSpec().options()) {
      long lines =
          Pattern.compile("(?m)^ +(-., |--[a-z-]+, )*" + option.longestName() + "(=|\\[|\\s)")
              .matcher(help)
              .results()
              .count();
      assertEquals(option.hidden() ? 0 : 1, lines, option.longestName() + " in " + help);
    }
    assertTrue(help.contains("NEREID_HTTP_PORT"), help);
  }

  @Test
  void theOptionsOfOneHeadingAreShownAlone() {
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run("serve", "--help=http"));
    assertTrue(run.out().startsWith("HTTP:\n"), run.out());
    assertTrue(run.out().contains("--http-port"), run.out());
    assertFalse(run.out().contains("--grpc-port"), run.out());
    CommandLineRun wrong = new CommandLineRun();
    assertEquals(2, wrong.run("serve", "--help=htpt"));
    assertTrue(wrong.err().contains("there is models, memory,"), wrong.err());
    assertTrue(wrong.err().contains("did you mean http?"), wrong.err());
  }

  @Test
  void theCompletionIsAScriptOfTheShell(@TempDir Path directory) throws Exception {
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run("completion", "bash"));
    assertTrue(run.out().contains("'--http-port'"), run.out());
    assertFalse(run.out().contains("--reuse-http-port"), "what has no effect is not suggested");
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "bash is not here");
    Path script = Files.writeString(directory.resolve("completion"), run.out());
    Process bash =
        new ProcessBuilder(
                "/bin/bash",
                "-c",
                "source \"$0\"; COMP_WORDS=(nereid serve --http-po); COMP_CWORD=2;"
                    + " _complete_nereid; echo \"${COMPREPLY[@]}\"",
                script.toString())
            .redirectError(
                ProcessBuilder.Redirect.DISCARD) // compopt is missed outside of a completion
            .start();
    assertEquals("--http-port", new String(bash.getInputStream().readAllBytes()).strip());
  }
}
