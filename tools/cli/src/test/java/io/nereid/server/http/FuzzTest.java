package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All seeds and a short run over each target; './dev fuzz' has the long ones. */
@Tag("slow")
class FuzzTest {

  private static final int SECONDS = 2;

  @ParameterizedTest
  @EnumSource(FuzzRun.Target.class)
  void chanceFindsNothing(FuzzRun.Target target, @TempDir Path directory) throws Exception {
    Path log = directory.resolve("log");
    ProcessBuilder fuzz = FuzzRun.command(target, SECONDS, directory);
    fuzz.command().add(1, "-XX:TieredStopAtLevel=1"); // most of a short run is its start
    Process process = fuzz.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    boolean ended = process.waitFor(SECONDS + 100, TimeUnit.SECONDS);
    process.destroyForcibly();
    String text = Files.readString(log);
    assertTrue(ended, text);
    assertEquals(0, process.exitValue(), text);
    assertTrue(text.contains("INITED cov:"), text); // with what it needs to know where it gets
  }
}
