package io.nereid.images;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of docs/images.md prints what it says. */
class ImagesDocumentTest {

  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path directory;

  @Test
  void theExampleRuns() throws Exception {
    Path root = Path.of("..", "..").toRealPath();
    Matcher example = EXAMPLE.matcher(Files.readString(root.resolve("docs/images.md")));
    assertTrue(example.find());
    Path source = directory.resolve("Example.java");
    Files.writeString(source, example.group(1));
    Path log = directory.resolve("log");
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                source.toString())
            .directory(root.toFile())
            .redirectError(log.toFile())
            .start();
    String printed = new String(java.getInputStream().readAllBytes());
    assertEquals(0, java.waitFor(), Files.readString(log));
    assertEquals("It is a 7", printed.strip());
  }
}
