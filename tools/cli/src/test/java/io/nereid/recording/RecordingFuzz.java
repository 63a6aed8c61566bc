package io.nereid.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * A target for fuzzing: any bytes as the records of a recording, each behind two bytes with its
 * length. They get the checksums that chance would not find, and are read up to where they are
 * damaged, which the recording then tells.
 */
public final class RecordingFuzz {

  private static final int MOST_BYTES = 1 << 20;

  private static Path segment;

  private RecordingFuzz() {}

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) throws IOException {
    if (segment == null) {
      segment = Files.createTempDirectory("nereid-recording").resolve("nereid-1.nrec");
    }
    Files.write(segment, framed(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)));
    try (Recording recording = Recording.open(segment.getParent())) {
      for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
        call.inputs().forEach(RecordingFuzz::readContent);
        call.outputs().forEach(RecordingFuzz::readContent);
      }
      recording.dropped();
      recording.damage();
    }
  }

  private static void readContent(RecordedTensor tensor) {
    try {
      if (tensor.byteSize() <= MOST_BYTES) {
        tensor.bytes();
      }
    } catch (UncheckedIOException e) {
      if (!e.getCause().getMessage().startsWith(segment.toString())) {
        throw new AssertionError("a message without the place", e);
      }
    }
  }

  private static byte[] framed(ByteBuffer bodies) {
    ByteBuffer out =
        ByteBuffer.allocate(Format.HEADER_BYTES + bodies.remaining() * Format.FRAME_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(Format.MAGIC)
            .position(Format.HEADER_BYTES - Integer.BYTES);
    out.putInt(checksum(out.array(), 0, out.position()));
    while (bodies.remaining() > Short.BYTES) {
      int length = Math.min(Short.toUnsignedInt(bodies.getShort()), bodies.remaining());
      out.putInt(length).putInt(checksum(bodies.array(), bodies.position(), length));
      out.put(bodies.array(), bodies.position(), length);
      bodies.position(bodies.position() + length);
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  private static int checksum(byte[] bytes, int from, int length) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes, from, length);
    return (int) checksum.getValue();
  }
}
