package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of real requests, read again. */
@SuppressWarnings("try") // recorders are opened to be closed
class RecorderTest {

  private static final long PLENTY = 1L << 30;

  private final Nereid nereid = Nereid.create();

  @TempDir Path directory;

  @AfterEach
  void close() {
    nereid.close();
  }

  private Model load(String name) {
    return nereid.load(
        ModelSpec.builder(name)
            .backend("identity")
            .maxBatchSize(8)
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1)
            .build());
  }

  private static void send(Model model, String id, float... values) {
    try (var request =
            model.newRequest().id(id).input("IN", Tensor.ofFloats(values, 1, values.length));
        var response = request.infer()) {
      assertEquals(values[0], response.output("OUT").floatAt(0));
    }
  }

  private List<RecordedCall> read() throws IOException {
    try (Recording recording = Recording.open(directory)) {
      List<RecordedCall> calls = new ArrayList<>();
      for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
        calls.add(call);
      }
      assertEquals(List.of(), recording.damage());
      return calls;
    }
  }

  private long size() throws IOException {
    long size = 0;
    for (Path segment : Retention.segments(directory)) {
      size += Files.size(segment);
    }
    return size;
  }

  private RecordingOptions options() {
    return RecordingOptions.to(directory);
  }

  @Test
  void recordsAllThatRequestsHave() throws IOException {
    Model model = load("identity");
    Instant before = Instant.now();
    try (Recorder recorder = Recorder.start(nereid, options().withOutputs(true));
        var request =
            model
                .newRequest()
                .id("ä1")
                .deadline(Duration.ofHours(1))
                .timeout(Duration.ofMinutes(1))
                .priority(3)
                .output("OUT")
                .parameter("yes", true)
                .parameter("count", 7)
                .parameter("ratio", 0.5)
                .parameter("text", "täxt")
                .parameter("large", BigInteger.TWO.pow(63))
                .input("IN", Tensor.ofFloats(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
        var response = request.infer()) {
      recorder.close();
      assertEquals(1, recorder.statistics().recorded());
      RecordedCall call;
      try (Recording recording = Recording.open(directory)) {
        call = recording.next();
        assertArrayEquals(new float[] {1, 2, 3, 4, 5, 6}, floats(call.inputs().getFirst()));
        assertArrayEquals(new float[] {1, 2, 3, 4, 5, 6}, floats(call.outputs().getFirst()));
        assertEquals(null, recording.next());
      }
      assertEquals("identity", call.model());
      assertEquals(1, call.version());
      assertEquals("ä1", call.id());
      assertEquals(StatusCode.OK, call.status());
      assertEquals("", call.message());
      assertTrue(call.arrivalNs() >= 0 && call.durationNs() > 0);
      assertFalse(call.arrival().isBefore(before.minusMillis(1)));
      assertTrue(call.deadlineNs() > Duration.ofMinutes(59).toNanos());
      assertEquals(Duration.ofMinutes(1).toNanos(), call.timeoutNs());
      assertEquals(3, call.priority());
      assertEquals(List.of("OUT"), call.wantedOutputs());
      assertEquals(response.executedBatchSize(), call.batchSize());
      assertFalse(call.sequence().isThere());
      assertEquals(
          Map.of(
              "yes",
              true,
              "count",
              7L,
              "ratio",
              0.5,
              "text",
              "täxt",
              "large",
              BigInteger.TWO.pow(63)),
          call.parameters());
      RecordedTensor input = call.inputs().getFirst();
      assertEquals("IN", input.name());
      assertEquals(DataType.FP32, input.dataType());
      assertEquals(List.of(2L, 3L), input.shape());
      assertEquals("OUT", call.outputs().getFirst().name());
    }
  }

  private static float[] floats(RecordedTensor tensor) {
    ByteBuffer content = tensor.content().get();
    float[] values = new float[content.remaining() / Float.BYTES];
    content.asFloatBuffer().get(values);
    return values;
  }

  @Test
  void recordsHowRequestsFail() throws IOException {
    Model model = load("identity");
    try (Recorder recorder = Recorder.start(nereid, options());
        var request = model.newRequest().id("late").deadline(Duration.ZERO);
        var without = model.newRequest().id("without")) {
      request.input("IN", Tensor.ofFloats(new float[] {1}, 1, 1));
      assertEquals(
          StatusCode.DEADLINE_EXCEEDED, assertThrows(NereidException.class, request::infer).code());
      assertThrows(NereidException.class, without::infer);
    }
    List<RecordedCall> calls = read();
    assertEquals("late", calls.getFirst().id());
    assertEquals(StatusCode.DEADLINE_EXCEEDED, calls.getFirst().status());
    assertFalse(calls.getFirst().message().isEmpty());
    assertEquals(1, calls.getFirst().inputs().size());
    assertTrue(calls.getFirst().outputs().isEmpty());
  }

  @Test
  void storesTheSameContentOnce() throws IOException {
    Model model = load("identity");
    float[] large = new float[10_000];
    for (int i = 0; i < large.length; i++) {
      large[i] = (float) Math.sin(i * 1e3);
    }
    try (Recorder recorder = Recorder.start(nereid, options())) {
      for (int i = 0; i < 50; i++) {
        send(model, "r" + i, large);
      }
      recorder.close();
      assertEquals(49L * large.length * Float.BYTES, recorder.statistics().savedBytes());
    }
    List<RecordedCall> calls = read();
    assertEquals(50, calls.size());
    assertTrue(size() < 2L * large.length * Float.BYTES, () -> "two contents are there");
    try (Recording recording = Recording.open(directory)) {
      for (int i = 0; i < 50; i++) {
        RecordedCall call = recording.next();
        assertEquals("r" + i, call.id());
        assertArrayEquals(large, floats(call.inputs().getFirst()));
      }
    }
  }

  @Test
  void deflatesWhatGetsShorter() throws IOException {
    Model model = load("identity");
    float[] even = new float[100_000];
    even[7] = 7;
    try (Recorder recorder = Recorder.start(nereid, options())) {
      send(model, "even", even);
    }
    assertTrue(size() < 10_000, "400 000 bytes, nearly all of them zeros, became fewer");
    try (Recording recording = Recording.open(directory)) {
      assertArrayEquals(even, floats(recording.next().inputs().getFirst()));
    }
  }

  @Test
  void leavesOutWhatIsRedacted() throws IOException {
    Model model = load("identity");
    RecordingOptions redacting =
        options().withOutputs(true).withRedacted(Set.of("IN", "OUT", "secret"));
    try (Recorder recorder = Recorder.start(nereid, redacting);
        var request =
            model
                .newRequest()
                .parameter("secret", "tell nobody")
                .input("IN", Tensor.ofFloats(new float[] {12_345.678f, 1}, 1, 2));
        var response = request.infer()) {
      assertEquals(12_345.678f, response.output("OUT").floatAt(0));
    }
    RecordedCall call = read().getFirst();
    assertEquals(Map.of(), call.parameters());
    for (RecordedTensor tensor : List.of(call.inputs().getFirst(), call.outputs().getFirst())) {
      assertEquals(RecordedTensor.Presence.REDACTED, tensor.presence());
      assertEquals(List.of(1L, 2L), tensor.shape());
      assertEquals(8, tensor.byteSize());
      assertEquals(0, tensor.content().get().remaining());
    }
    assertFalse(contains(bytes(12_345.678f)), "the input's element is in no segment");
    assertFalse(contains("tell nobody".getBytes()), "nor is the parameter");
    assertTrue(contains("identity".getBytes()));
  }

  private static byte[] bytes(float value) {
    return ByteBuffer.allocate(4).order(java.nio.ByteOrder.LITTLE_ENDIAN).putFloat(value).array();
  }

  private boolean contains(byte[] wanted) throws IOException {
    byte[] all = Files.readAllBytes(Retention.segments(directory).getFirst());
    for (int i = 0; i + wanted.length <= all.length; i++) {
      if (java.util.Arrays.equals(all, i, i + wanted.length, wanted, 0, wanted.length)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void recordsTheModelsAndTheShareThatAreWanted() throws IOException {
    Model wanted = load("wanted");
    Model other = load("other");
    RecordingOptions half = options().withModels(Set.of("wanted")).withShare(0.5);
    try (Recorder recorder = Recorder.start(nereid, half)) {
      for (int i = 0; i < 1000; i++) {
        send(wanted, "w", i);
        send(other, "o", i);
      }
    }
    List<RecordedCall> calls = read();
    assertTrue(calls.stream().allMatch(call -> call.model().equals("wanted")));
    assertTrue(calls.size() > 350 && calls.size() < 650, () -> calls.size() + " of 1000");
  }

  @Test
  void dropsAndCountsWhatDoesNotFit() throws IOException {
    Model model = load("identity");
    try (Recorder recorder = Recorder.start(nereid, options().withMemory(1 << 16))) {
      send(model, "small", 1);
      send(model, "large", new float[100_000]);
      send(model, "small again", 2);
      recorder.close();
      assertEquals(2, recorder.statistics().recorded());
      assertEquals(1, recorder.statistics().dropped());
    }
    assertEquals(List.of("small", "small again"), read().stream().map(RecordedCall::id).toList());
    try (Recording recording = Recording.open(directory)) {
      while (recording.next() != null) {
        continue;
      }
      assertEquals(1, recording.dropped());
    }
  }

  @Test
  void onlyTheOwnerMayRead() throws IOException {
    Path below = directory.resolve("made/by/it");
    try (Recorder recorder = Recorder.start(nereid, RecordingOptions.to(below))) {
      assertEquals(
          "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(below)));
      Path segment = Retention.segments(below).getFirst();
      assertEquals(
          "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(segment)));
    }
  }

  @Test
  void keepsNoMoreThanItMay() throws IOException {
    Model model = load("identity");
    long most = RecordingOptions.LEAST_BYTES;
    RecordingOptions bounded = options().withRetention(most, Optional.empty());
    try (Recorder recorder = Recorder.start(nereid, bounded)) {
      for (int i = 0; i < 200; i++) {
        float[] values = new float[5000];
        for (int j = 0; j < values.length; j++) {
          values[j] = (float) Math.sin(i * 5000 + j);
        }
        send(model, "r" + i, values);
      }
    }
    assertTrue(size() <= most, () -> "4 MB went into 1 MiB");
    List<RecordedCall> calls = read();
    assertEquals("r199", calls.getLast().id());
    assertTrue(calls.size() >= 20, () -> calls.size() + " are left");
  }

  @Test
  void deletesWhatIsTooOld() throws IOException {
    try (Recorder recorder = Recorder.start(nereid, options())) {
      send(load("identity"), "old", 1);
    }
    Path old = Retention.segments(directory).getFirst();
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(8))));
    Path foreign = Files.createFile(directory.resolve("mine.txt"));
    Files.setLastModifiedTime(foreign, FileTime.from(Instant.EPOCH));
    RecordingOptions week = options().withRetention(PLENTY, Optional.of(Duration.ofDays(7)));
    try (Recorder recorder = Recorder.start(nereid, week)) {
      assertFalse(Files.exists(old));
      assertTrue(Files.exists(foreign));
    }
  }

  @Test
  void saysWhyItCannotRecord() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    NereidException e =
        assertThrows(
            NereidException.class,
            () -> Recorder.start(nereid, RecordingOptions.to(file.resolve("below"))));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    assertTrue(e.getMessage().contains(file.toString()), e.getMessage());
    assertTrue(
        assertThrows(IOException.class, () -> Recording.open(directory))
            .getMessage()
            .contains("there are none"));
    assertThrows(IllegalArgumentException.class, () -> options().withShare(0));
    assertThrows(IllegalArgumentException.class, () -> options().withShare(Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> options().withMemory(1));
  }

  @Test
  void severalRecordersRecordSideBySide() throws IOException {
    Model model = load("m");
    RecordingOptions other = RecordingOptions.to(directory.resolve("other"));
    try (Recorder recorder = Recorder.start(nereid, options())) {
      send(model, "one", 1);
      try (Recorder second = Recorder.start(nereid, other)) {
        send(model, "both", 2);
      }
      send(model, "one again", 3);
    }
    assertEquals(
        List.of("one", "both", "one again"), read().stream().map(RecordedCall::id).toList());
    try (Recording recording = Recording.open(other.directory())) {
      assertEquals("both", recording.next().id());
      assertEquals(null, recording.next());
    }
  }

  /** A link that leads nowhere is like a segment that is deleted after it was listed. */
  @Test
  void readsTheOthersWhenASegmentIsDeletedMeanwhile() throws IOException {
    try (Recorder recorder = Recorder.start(nereid, options())) {
      send(load("m"), "here", 1);
    }
    Path gone = directory.resolve(Format.PREFIX + "0" + Format.SUFFIX);
    Files.createSymbolicLink(gone, directory.resolve("gone"));
    assertEquals(List.of(gone), Retention.segments(directory).subList(0, 1));
    assertEquals(List.of("here"), read().stream().map(RecordedCall::id).toList());
  }

  /** A segment cut anywhere has the requests before the cut, and none that was not sent. */
  @Test
  void readsUpToTheLastWholeRecord() throws IOException {
    Model model = load("identity");
    try (Recorder recorder = Recorder.start(nereid, options())) {
      for (int i = 0; i < 5; i++) {
        send(model, Integer.toString(i), i, i + 1);
      }
    }
    Path segment = Retention.segments(directory).getFirst();
    byte[] whole = Files.readAllBytes(segment);
    int last = 0;
    for (int length = 0; length <= whole.length; length++) {
      Files.write(segment, java.util.Arrays.copyOf(whole, length));
      int count = checkPrefix();
      assertTrue(count >= last);
      last = count;
    }
    assertEquals(5, last);
    for (int at = Format.HEADER_BYTES; at < whole.length; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 0x10;
      Files.write(segment, damaged, StandardOpenOption.TRUNCATE_EXISTING);
      checkPrefix();
    }
  }

  private int checkPrefix() throws IOException {
    int count = 0;
    try (Recording recording = Recording.open(directory)) {
      for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
        assertEquals(Integer.toString(count), call.id());
        assertArrayEquals(new float[] {count, count + 1}, floats(call.inputs().getFirst()));
        count++;
      }
    }
    return count;
  }
}
