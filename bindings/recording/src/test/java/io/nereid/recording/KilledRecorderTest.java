package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of processes that end without warning, as by {@code kill -9}. */
@Tag("slow")
@SuppressWarnings("try") // recorders are opened to be closed
class KilledRecorderTest {

  private static final int KILLS = Integer.getInteger("nereid.recording.kills", 5);

  @TempDir Path directory;

  @Test
  void writtenRecordsAreReadAndAreRight() throws IOException, InterruptedException {
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < KILLS; i++) {
      Path recorded = directory.resolve(Integer.toString(i));
      killed(recorded, random.nextInt(150));
      int count = check(recorded);
      assertTrue(count > 0, "nothing was recorded in run " + i);
    }
  }

  private static void killed(Path into, int afterMs) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                RecordingProgram.class.getName(),
                into.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader output = process.inputReader()) {
      assertEquals("recording " + into, output.readLine());
      while (Files.size(Retention.segments(into).getFirst()) <= Format.HEADER_BYTES) {
        Thread.sleep(1);
      }
      Thread.sleep(afterMs);
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** Holds each request of a recording to what was sent; returns how many there are. */
  private static int check(Path recorded) throws IOException {
    int number = 0;
    try (Recording recording = Recording.open(recorded)) {
      long lost = 0;
      for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
        int sent = Integer.parseInt(call.id());
        lost += sent - number;
        number = sent + 1;
        for (RecordedTensor tensor : List.of(call.inputs().getFirst(), call.outputs().getFirst())) {
          ByteBuffer content = tensor.content().get();
          float[] values = new float[content.remaining() / Float.BYTES];
          content.asFloatBuffer().get(values);
          assertArrayEquals(RecordingProgram.input(sent), values, call.id());
        }
      }
      assertEquals(lost, recording.dropped(), "requests that are not there were counted");
      assertTrue(recording.damage().size() <= 1, () -> recording.damage().toString());
    }
    return number;
  }
}
