package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that no recording can take, and recordings that cannot begin. */
@SuppressWarnings("try") // recorders are opened to be closed
class RecorderLimitsTest {

  private static final int MIB = 1 << 20;

  private final Nereid nereid = Nereid.create();
  private final Model model =
      nereid.load(
          ModelSpec.builder("identity")
              .backend("identity")
              .input("IN", DataType.FP32, -1)
              .output("OUT", DataType.FP32, -1)
              .build());

  @TempDir Path directory;

  @AfterEach
  void close() {
    nereid.close();
  }

  private void send(String id, Map<String, ?> parameters) {
    try (var request = model.newRequest().id(id).input("IN", Tensor.ofFloats(new float[1], 1))) {
      parameters.forEach(request::parameter);
      request.infer().close();
    }
  }

  /** The parameters share one text, so that nothing large is allocated unless it is copied. */
  @Test
  void parametersThatDoNotFitAreDroppedBeforeTheyTakeHeap() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    String text = "x".repeat(MIB);
    Map<String, String> parameters = new HashMap<>();
    for (int i = 0; i < 64; i++) {
      parameters.put("p" + i, text);
    }
    try (Recorder recorder =
        Recorder.start(nereid, RecordingOptions.to(directory).withMemory(1 << 16))) {
      long before = threads.getTotalThreadAllocatedBytes();
      send("large", parameters);
      long allocated = threads.getTotalThreadAllocatedBytes() - before;
      recorder.close();
      assertEquals(1, recorder.statistics().dropped());
      assertEquals(0, recorder.statistics().recorded());
      assertTrue(allocated < 16 * MIB, () -> allocated + " bytes were allocated");
    }
  }

  @Test
  void aRequestWithMoreParametersThanCanBeCountedIsDropped() throws IOException {
    Map<String, Boolean> parameters = new HashMap<>();
    for (int i = 0; i < 1 << 16; i++) {
      parameters.put("p" + i, true);
    }
    try (Recorder recorder = Recorder.start(nereid, RecordingOptions.to(directory))) {
      send("before", Map.of());
      send("many", parameters);
      parameters.remove("p0");
      send("most", parameters);
      send("behind", Map.of());
    }
    try (Recording recording = Recording.open(directory)) {
      assertEquals("before", recording.next().id());
      assertEquals(parameters, recording.next().parameters());
      assertEquals("behind", recording.next().id());
      assertEquals(null, recording.next());
      assertEquals(List.of(), recording.damage());
      assertEquals(1, recording.dropped());
    }
  }

  /** Memory of this process that is no file's. */
  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("RssAnon:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    throw new AssertionError("expected RssAnon in /proc/self/status, got none");
  }

  @Test
  void aRecordingThatCannotBeginLeavesNoMemory() throws IOException {
    RecordingOptions options = RecordingOptions.to(Path.of("/proc/self")).withMemory(256 * MIB);
    long before = residentBytes();
    for (int i = 0; i < 4; i++) {
      NereidException e =
          assertThrows(NereidException.class, () -> Recorder.start(nereid, options));
      assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    }
    long more = residentBytes() - before;
    assertTrue(more < 2 * options.memoryBytes(), () -> more + " bytes are left");
  }
}
