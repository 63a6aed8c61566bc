package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records whose checksums are right, and whose form may not be. */
@SuppressWarnings("try") // recorders are opened to be closed
class RecordFormTest {

  private static final long MOST_BYTES = 1 << 20;

  private final List<byte[]> bodies = new ArrayList<>();
  private final List<String> ids = new ArrayList<>(); // of the requests that were read

  @TempDir Path directory;

  /** The records of a request with a text, parameters and a content that is deflated. */
  @BeforeEach
  void record() throws IOException {
    try (Nereid nereid = Nereid.create();
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(directory));
        var request =
            nereid
                .load(
                    ModelSpec.builder("m")
                        .backend("identity")
                        .input("IN", DataType.FP32, -1)
                        .output("OUT", DataType.FP32, -1)
                        .build())
                .newRequest()
                .id("a")
                .parameter("p", 1L)
                .input("IN", Tensor.ofFloats(new float[100], 100));
        var response = request.infer()) {
      assertEquals(0, response.output("OUT").floatAt(0));
    }
    Path segment = Retention.segments(directory).getFirst();
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(segment)).order(ByteOrder.LITTLE_ENDIAN);
    file.position(Format.HEADER_BYTES);
    while (file.hasRemaining()) {
      byte[] body = new byte[file.getInt()];
      file.position(file.position() + Integer.BYTES).get(body);
      bodies.add(body);
    }
    Files.delete(segment);
  }

  /** Reads all of the records, and returns the damage that is told. */
  private List<String> read() throws IOException {
    Path segment = directory.resolve("nereid-1.nrec");
    Files.deleteIfExists(segment);
    ids.clear();
    try (RecordingFile file =
        RecordingFile.create(segment, 0, 1, 1, new LongAdder(), new LongAdder())) {
      for (byte[] body : bodies) {
        file.append(ByteBuffer.wrap(body), ByteBuffer.allocate(0));
      }
    }
    try (Recording recording = Recording.open(directory)) {
      for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
        ids.add(call.id());
        for (RecordedTensor tensor : call.inputs()) {
          try {
            assertTrue(tensor.byteSize() > MOST_BYTES || tensor.bytes() != null);
          } catch (UncheckedIOException e) {
            assertTrue(e.getCause().getMessage().startsWith(segment.toString()), e.toString());
          }
        }
      }
      return recording.damage();
    }
  }

  @Test
  void anyByteMayBeAnother() throws IOException {
    assertEquals(List.of(), read());
    int damaged = 0;
    for (byte[] body : bodies) {
      for (int at = 0; at < body.length; at++) {
        byte right = body[at];
        for (int other : new int[] {0, 0x7F, 0xFF}) {
          body[at] = (byte) other;
          damaged += read().size();
        }
        body[at] = right;
      }
    }
    assertTrue(damaged > 30, "only " + damaged + " were damaged");
  }

  @Test
  void requestsBehindARecordOfAnotherFormAreRead() throws IOException {
    bodies.addFirst(new byte[] {Format.REQUEST});
    assertEquals(1, read().size());
    assertEquals(List.of("a"), ids);
  }

  @Test
  void recordsThatEndEarlyAreDamaged() throws IOException {
    assertEquals(Format.END, bodies.removeLast()[0]); // of which only the type is read
    for (int i = 0; i < bodies.size(); i++) {
      byte[] body = bodies.get(i);
      for (int length = 1; length < body.length; length++) {
        bodies.set(i, Arrays.copyOf(body, length));
        int damaged = read().size();
        if (body[0] == Format.REQUEST || length < Format.CONTENT_HEAD_BYTES) {
          assertEquals(1, damaged);
        }
      }
      bodies.set(i, body);
    }
  }
}
