package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.types.NereidException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** If Java does not let Nereid call native code, the exception tells the remedy. */
class NativeAccessTest {

  /** Started as a process of its own, without access to native code. */
  static final class Program {

    private Program() {}

    public static void main(String[] args) {
      try {
        Nereid.create().close();
        System.out.println("created");
      } catch (NereidException e) {
        System.out.println(e.code() + " " + e.getMessage().split(":")[1].strip());
      }
    }
  }

  @Test
  void withoutAccessTheOptionIsNamed() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--illegal-native-access=deny",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    assertEquals(
        "FAILED_PRECONDITION start it with --enable-native-access=ALL-UNNAMED", output.strip());
  }
}
