package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The message of a Java that is too old. */
class LauncherTest {

  private static final Path CLASSES = Path.of("target", "classes");
  private static final Path SYSTEM_JAVAS = Path.of("/usr/lib/jvm");
  private static final int JAVA_8 = 52;

  @Test
  void itIsAClassOfJava8() throws IOException {
    Path file = CLASSES.resolve("io/nereid/cli/Launcher.class");
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      in.readInt();
      in.readUnsignedShort();
      assertEquals(JAVA_8, in.readUnsignedShort());
    }
  }

  @Test
  void anOlderJavaIsToldInOneLine() throws Exception {
    Optional<Path> java = olderJava();
    assumeTrue(java.isPresent(), "there is no older Java here");
    Process process =
        new ProcessBuilder(
                java.get().toString(), "-cp", CLASSES.toString(), Launcher.class.getName())
            .redirectErrorStream(true)
            .start();
    List<String> said = new String(process.getInputStream().readAllBytes()).lines().toList();
    assertEquals(1, process.waitFor());
    assertEquals(1, said.size(), said::toString);
    assertTrue(
        said.getFirst().startsWith("nereid: expected Java 25 or newer, got Java "), said::toString);
  }

  private static Optional<Path> olderJava() throws IOException {
    if (!Files.isDirectory(SYSTEM_JAVAS)) {
      return Optional.empty();
    }
    try (Stream<Path> homes = Files.list(SYSTEM_JAVAS)) {
      return homes
          .filter(home -> home.getFileName().toString().matches("java-(8|11|17|21)-.*"))
          .map(home -> home.resolve(Path.of("bin", "java")))
          .filter(Files::isExecutable)
          .findFirst();
    }
  }
}
