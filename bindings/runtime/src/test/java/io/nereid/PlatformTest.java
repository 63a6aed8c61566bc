package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said where there is no native library. */
class PlatformTest {

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

  @ParameterizedTest
  @CsvSource({"Mac OS X, aarch64", "Windows 11, amd64", "Linux, aarch64"})
  void oneLineSaysWhatToDo(String system, String processor) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dos.name=" + system,
                "-Dos.arch=" + processor,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Opening.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes()).strip();
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.contains("this is " + system + " on " + processor), said);
    assertTrue(said.contains("linux/amd64") && said.contains("nereid-client"), said);
    assertEquals(1, said.lines().count(), said);
  }
}
