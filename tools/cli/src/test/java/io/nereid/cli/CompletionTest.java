package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.ModelSpec;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.types.DataType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shells complete commands, options and models by the scripts that the command prints. */
class CompletionTest {

  @TempDir private Path directory;
  private Path nereid;
  private Path models;

  @BeforeEach
  void makeCommand() throws Exception {
    nereid = directory.resolve("nereid");
    Files.writeString(
        nereid,
        "#!/bin/sh\nexec '"
            + Path.of(System.getProperty("java.home"), "bin", "java")
            + "' -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED -cp '"
            + System.getProperty("java.class.path")
            + "' io.nereid.cli.Main \"$@\"\n");
    assertTrue(nereid.toFile().setExecutable(true));
    models = Files.createDirectories(directory.resolve("models"));
    for (String name : List.of("alpha", "also", "beta", ".hidden")) {
      Files.createDirectories(models.resolve(name).resolve("1"));
    }
    Files.write(models.resolve("almost.onnx"), new byte[1]);
  }

  private Path script(String shell) throws Exception {
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run("completion", shell));
    return Files.writeString(directory.resolve(shell), run.out());
  }

  private static List<String> lines(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said.lines().toList();
  }

  /** The completions of the last word; bash has split the others at colons and equals signs. */
  private List<String> bash(Path script, String... words) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "/bin/bash",
                "-c",
                "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _complete_nereid;"
                    + " printf '%s\\n' \"${COMPREPLY[@]}\"",
                script.toString(),
                nereid.toString()));
    command.addAll(List.of(words));
    return lines(command.toArray(String[]::new));
  }

  /** The completions of a line's last word, without their descriptions. */
  private List<String> fish(Path script, String line) throws Exception {
    String path = "set PATH " + directory + " $PATH; source " + script + "; complete -C '";
    return lines("/usr/bin/fish", "--no-config", "-c", path + line + "'").stream()
        .map(each -> each.split("\t")[0])
        .toList();
  }

  @Test
  void bashCompletesModelsOfARepository() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "bash is not here");
    Path script = script("bash");
    String place = models.toString();
    List<String> three = List.of("almost", "alpha", "also");
    assertEquals(List.of("infer"), bash(script, "inf"));
    assertEquals(three, bash(script, "infer", "--model-repository", place, "al"));
    assertEquals(three, bash(script, "infer", "--repository", "=", place, "al"));
    assertEquals(
        List.of("beta"),
        bash(script, "config", "--model-version", "3", "--repository", place, "b"));
    assertEquals(List.of("--output"), bash(script, "infer", "--outp"));
    // The name is there, so this is a directory.
    assertEquals(List.of(""), bash(script, "infer", "--repository", place, "beta", "al"));
  }

  @Test
  void fishCompletesCommandsOptionsAndModels() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/fish")), "no fish; './dev setup' installs it");
    Path script = script("fish");
    assertEquals(List.of("infer"), fish(script, "nereid inf"));
    assertEquals(List.of("--http-port"), fish(script, "nereid serve --http-po"));
    List<String> three = List.of("almost", "alpha", "also");
    assertEquals(three, fish(script, "nereid infer --model-repository " + models + " al"));
    assertEquals(three, fish(script, "nereid infer --model-repository=" + models + " al"));
  }

  @Test
  void modelsOfAServerAreCompleted() throws Exception {
    try (NereidServer server = NereidServer.start(ServerOptions.DEFAULT)) {
      for (String name : List.of("gamma", "gabor", "delta")) {
        server
            .nereid()
            .load(
                ModelSpec.builder(name)
                    .backend("identity")
                    .input("IN", DataType.FP32, 1)
                    .output("OUT", DataType.FP32, 1)
                    .build());
      }
      String port = Integer.toString(server.httpPort());
      List<String> two = List.of("gabor", "gamma");
      if (Files.isExecutable(Path.of("/bin/bash"))) {
        Path script = script("bash");
        for (String command : List.of("infer", "stats", "unload")) {
          assertEquals(two, bash(script, command, "-u", "127.0.0.1", ":", port, "ga"));
        }
        assertEquals(two, bash(script, "trace", "-u", "127.0.0.1", ":", port, "--model", "ga"));
      }
      if (Files.isExecutable(Path.of("/usr/bin/fish"))) {
        assertEquals(two, fish(script("fish"), "nereid stats -u 127.0.0.1:" + port + " ga"));
        assertEquals(two, fish(script("fish"), "nereid trace -u 127.0.0.1:" + port + " -m ga"));
      }
      CommandLineRun run = new CommandLineRun();
      assertEquals(0, run.run("models", "--names", "-u", "127.0.0.1:" + port));
      assertEquals(List.of("delta", "gabor", "gamma"), Arrays.asList(run.out().split("\n")));
    }
  }
}
