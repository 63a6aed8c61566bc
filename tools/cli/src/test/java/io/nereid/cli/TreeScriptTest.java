package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script at the top of a tree that was never built, in which nothing could be built. */
class TreeScriptTest {

  private static final Path ROOT = Path.of("..", "..");

  @TempDir private Path tree;

  @BeforeEach
  void copyWhatTheScriptReads() throws IOException {
    Path commands = Path.of("tools/cli/src/main/java/io/nereid/cli/Main.java");
    Files.createDirectories(tree.resolve(commands).getParent());
    Files.createDirectory(tree.resolve(".dev"));
    try (Stream<Path> scripts = Files.list(ROOT.resolve(".dev"))) {
      for (Path script : scripts.filter(Files::isRegularFile).toList()) {
        Files.copy(script, tree.resolve(".dev").resolve(script.getFileName()));
      }
    }
    for (Path file : List.of(Path.of("nereid"), Path.of("pom.xml"), commands)) {
      Files.copy(ROOT.resolve(file), tree.resolve(file));
    }
  }

  private String run(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("/bin/bash", tree.resolve("nereid").toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
    assertFalse(Files.exists(tree.resolve("build")), "something was built");
    return said;
  }

  @ParameterizedTest
  @CsvSource({
    "--version, (not built)",
    "version, (not built)",
    "--help, Usage: nereid COMMAND",
    "help, Usage: nereid COMMAND",
    "completion, complete -W",
    "completion fish, complete -c nereid"
  })
  void helpAndVersionNeedNoBuild(String argument, String expected) throws Exception {
    assertTrue(run(argument.split(" ")).contains(expected));
  }

  @Test
  void allCommandsAreNamed() throws Exception {
    String help = run("--help");
    for (String command : Main.commandLine().getSubcommands().keySet()) {
      assertTrue(help.contains("\n  " + command + "\n"), command + " in " + help);
    }
  }
}
