package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events for Java's Flight Recorder. */
class FlightRecordingTest {

  @TempDir private Path directory;

  private static ModelSpec.Builder identity(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .input("IN", DataType.FP32, -1)
        .output("OUT", DataType.FP32, -1);
  }

  private static void infer(Model model, String id) {
    try (var request =
            model.newRequest().id(id).input("IN", Tensor.ofFloats(new float[] {1, 2}, 2));
        var response = request.infer()) {
      assertEquals(2, response.output("OUT").floatAt(1));
    }
  }

  private List<RecordedEvent> stopped(Recording recording) throws Exception {
    recording.stop();
    Path file = directory.resolve("recording.jfr");
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("nereid."))
        .toList();
  }

  private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
    return events.stream().filter(event -> event.getEventType().getName().equals(name)).toList();
  }

  @Test
  void requestsAndModelsAreRecordedWhileSomebodyDoes() throws Exception {
    try (Nereid nereid = Nereid.create()) {
      Model early = nereid.load(identity("m").inlineBudget(Duration.ofHours(1)).build());
      infer(early, "before");
      try (Recording recording = new Recording()) {
        recording.enable("nereid.Request").withThreshold(Duration.ZERO);
        recording.start();
        infer(early, "during");
        try (var request = early.newRequest().id("cancelled")) {
          request.input("IN", Tensor.ofFloats(new float[1], 1)).cancel();
          assertThrows(NereidException.class, request::infer);
        }
        early.unload();
        List<RecordedEvent> events = stopped(recording);

        List<RecordedEvent> requests = named(events, "nereid.Request");
        assertEquals(
            List.of("during", "cancelled"),
            requests.stream().map(event -> event.getString("id")).toList());
        RecordedEvent answered = requests.getFirst();
        assertEquals("m", answered.getString("model"));
        assertEquals(1, answered.getLong("version"));
        assertEquals("OK", answered.getString("status"));
        assertEquals(1, answered.getInt("batchSize"));
        assertTrue(answered.getBoolean("inline"));
        Duration parts =
            answered
                .getDuration("queue")
                .plus(answered.getDuration("computeInput"))
                .plus(answered.getDuration("computeInfer"))
                .plus(answered.getDuration("computeOutput"));
        assertTrue(parts.compareTo(answered.getDuration()) <= 0, answered.toString());

        RecordedEvent failure = named(events, "nereid.Failure").getFirst();
        assertEquals("CANCELLED", failure.getString("status"));
        assertEquals("cancelled", failure.getString("id"));
        assertFalse(failure.getString("reason").isEmpty());

        RecordedEvent unloaded = named(events, "nereid.Lifecycle").getFirst();
        assertEquals("unloaded", unloaded.getString("step"));
        assertNull(unloaded.getString("reason"));
      }
    }
  }

  @Test
  void figuresComeOnceASecondUntilTheRuntimeIsClosed() throws Exception {
    CountDownLatch models = new CountDownLatch(1);
    CountDownLatch pools = new CountDownLatch(1);
    CountDownLatch processes = new CountDownLatch(1);
    try (RecordingStream stream = new RecordingStream();
        Nereid nereid = Nereid.create()) {
      infer(nereid.load(identity("m").build()), "one");
      stream.enable("nereid.Model").withPeriod(Duration.ofMillis(10));
      stream.enable("nereid.Pool").withPeriod(Duration.ofMillis(10));
      stream.onEvent(
          "nereid.Model",
          event -> {
            if (event.getLong("success") == 1 && event.getString("model").equals("m")) {
              models.countDown();
            }
          });
      stream.onEvent(
          "nereid.Pool",
          event -> {
            if (event.getLong("limit") == nereid.poolStatistics().byteLimit()) {
              pools.countDown();
            }
          });
      Model isolated = nereid.load(identity("isolated").isolation("process").build());
      long process = isolated.isolationStatistics().orElseThrow().process();
      stream.onEvent(
          "nereid.Model",
          event -> {
            if (event.getLong("restarts") == 1 && event.getString("lastEnd").contains("signal 9")) {
              processes.countDown();
            }
          });
      stream.startAsync();
      ProcessHandle.of(process).orElseThrow().destroyForcibly();
      processes.await();
      models.await();
      pools.await();
    }
  }
}
