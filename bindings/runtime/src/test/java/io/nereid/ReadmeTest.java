package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of how to embed Nereid are compiled and run as they stand in the documents. */
class ReadmeTest {

  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  private static final String SUMS = "[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]";

  @TempDir Path directory;

  @Test
  void theReadmesExamplePrintsWhatItSays() throws Exception {
    assertEquals(List.of(SUMS), compiledAndRun("README.md", 0));
  }

  @Test
  void theExampleOfOneFilePrintsWhatItSays() throws Exception {
    assertEquals(List.of("32 images, 10 scores for each"), compiledAndRun("docs/embedding.md", 0));
  }

  @Test
  void theLongerExamplePrintsWhatItSays() throws Exception {
    assertEquals(
        List.of(SUMS, "1.5", "1 request answered"), compiledAndRun("docs/embedding.md", 1));
  }

  @Test
  void theExampleOfRecordsPrintsWhatItSays() throws Exception {
    assertEquals(List.of("10 scores", "true", "true"), compiledAndRun("docs/embedding.md", 2));
  }

  /** The lines that an example of a document prints. */
  private List<String> compiledAndRun(String document, int number) throws Exception {
    Path root = Path.of("../..").toRealPath();
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(root.resolve(document)))
            .results()
            .map(example -> example.group(1))
            .toList();
    assertTrue(examples.size() > number, document + " has the example");
    Path source = directory.resolve("Example.java");
    Files.writeString(source, examples.get(number));
    String classPath = System.getProperty("java.class.path");
    compile(source, classPath);
    return run(root, classPath);
  }

  private void compile(Path source, String classPath) {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var messages = new StringWriter();
    var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    var options = List.of("-Xlint:all", "-Werror", "-cp", classPath, "-d", directory.toString());
    boolean compiled =
        compiler
            .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
            .call();
    assertTrue(compiled, messages::toString);
  }

  private List<String> run(Path root, String classPath) throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    Path log = directory.resolve("log");
    String nativePath = System.getProperty("nereid.native.path");
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                directory + ":" + classPath));
    if (nativePath != null) {
      command.add("-Dnereid.native.path=" + nativePath);
    }
    command.add("Example");
    int exit =
        new ProcessBuilder(command)
            .directory(root.toFile())
            .redirectOutput(output.toFile())
            .redirectError(log.toFile())
            .start()
            .waitFor();
    assertEquals(0, exit, Files.readString(log));
    assertTrue(Files.readString(log).contains(" version 1 is ready after "));
    return Files.readAllLines(output);
  }
}
