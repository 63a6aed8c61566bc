package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The choice of the native library, and the message if there is none. */
class PlatformTest {

  @TempDir private Path directory;

  /** A program that opens a runtime and prints what comes of it. */
  static final class Opening {
    public static void main(String[] args) {
      try (Nereid nereid = Nereid.create()) {
        System.out.println("opened " + nereid.models());
      } catch (NereidException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  /** What the program prints where Java says that it is on another system. */
  private String said(String system, String processor) throws Exception {
    Path log = directory.resolve("log");
    ProcessBuilder java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+DisplayVMOutputToStderr", // it wonders about what is no library
                "-Dos.name=" + system,
                "-Dos.arch=" + processor,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                directory + ":" + System.getProperty("java.class.path"),
                Opening.class.getName())
            .redirectError(log.toFile());
    java.environment().put("XDG_CACHE_HOME", directory.toString());
    Process process = java.start();
    String said = new String(process.getInputStream().readAllBytes()).strip();
    assertEquals(0, process.waitFor(), Files.readString(log));
    assertEquals(1, said.lines().count(), said);
    return said;
  }

  @ParameterizedTest
  @CsvSource({
    "Mac OS X, aarch64, this is Mac OS X on aarch64",
    "Windows 11, amd64, this is Windows 11 on amd64",
    "Linux, riscv64, this is Linux on riscv64",
    "Linux, aarch64, was made without the native library for linux-aarch64"
  })
  void oneLineSaysWhatToDo(String system, String processor, String what) throws Exception {
    String said = said(system, processor);
    assertTrue(said.contains(what), said);
    assertTrue(said.contains("linux/amd64") && said.contains("nereid-client"), said);
  }

  @Test
  void theLibraryIsThatOfTheProcessor() throws Exception {
    Path libraries = Files.createDirectories(directory.resolve("META-INF/native/linux-aarch64"));
    Files.writeString(libraries.resolve("libnereid.so"), "not one that this machine can load");
    String said = said("Linux", "aarch64");
    assertTrue(said.startsWith("cannot load the native library " + directory), said);
    assertTrue(said.contains("for aarch64") && said.contains("glibc"), said);
    assertTrue(said("Linux", "amd64").startsWith("opened "), "with the other library beside it");
  }
}
