package io.nereid.recording;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/**
 * A segment that is being written: a header, then records, each with its length and its checksum.
 * Small records wait in a buffer until {@link #flush}, and what cannot be written then is lost.
 * Used by one thread, which closes it.
 */
final class RecordingFile implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 18;

  private final Path path;
  private final FileChannel file;
  private final ByteBuffer buffer;
  private final LongAdder recorded;
  private final LongAdder dropped;
  private final CRC32 checksum = new CRC32();
  private long byteSize;
  private int waiting; // requests that are in the buffer

  private RecordingFile(Path path, FileChannel file, LongAdder recorded, LongAdder dropped) {
    this.path = path;
    this.file = file;
    this.recorded = recorded;
    this.dropped = dropped;
    buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Makes the file, which only its owner may read.
   *
   * @param recorded counts the requests that are written
   * @param dropped counts those that were appended and are lost
   */
  static RecordingFile create(
      Path path,
      long startEpochNs,
      long recording,
      int number,
      LongAdder recorded,
      LongAdder dropped)
      throws IOException {
    FileChannel file =
        FileChannel.open(
            path,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    RecordingFile segment = new RecordingFile(path, file, recorded, dropped);
    ByteBuffer header = segment.buffer;
    header.putLong(Format.MAGIC).putLong(startEpochNs).putLong(recording).putInt(number);
    segment.checksum.update(header.slice(0, header.position()));
    header.putInt((int) segment.checksum.getValue());
    segment.byteSize = Format.HEADER_BYTES;
    return segment;
  }

  Path path() {
    return path;
  }

  /** The size with what is not written yet. */
  long byteSize() {
    return byteSize;
  }

  /** Appends a record whose body has two parts. */
  void append(ByteBuffer first, ByteBuffer second) throws IOException {
    int length = first.remaining() + second.remaining();
    checksum.reset();
    checksum.update(first.duplicate());
    checksum.update(second.duplicate());
    if (Format.FRAME_BYTES + length > buffer.remaining()) {
      flush();
    }
    byteSize += Format.FRAME_BYTES + length;
    buffer.putInt(length).putInt((int) checksum.getValue());
    if (length <= buffer.remaining()) {
      buffer.put(first).put(second);
      return;
    }
    flush();
    write(first);
    write(second);
  }

  /** Appends a request. */
  void append(MemorySegment body) throws IOException {
    append(body.asByteBuffer(), ByteBuffer.allocate(0));
    waiting++;
  }

  /** Writes what waits. A process that ends in whatever way loses nothing of that. */
  void flush() throws IOException {
    buffer.flip();
    LongAdder count = dropped;
    try {
      write(buffer);
      count = recorded;
    } finally {
      buffer.clear();
      count.add(waiting);
      waiting = 0;
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  /** Writes what waits; no file stays that has no record. */
  @Override
  public void close() throws IOException {
    try (file) {
      try {
        flush();
      } finally {
        if (file.position() <= Format.HEADER_BYTES) {
          Files.deleteIfExists(path);
        }
      }
    }
  }
}
