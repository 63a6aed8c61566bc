package io.nereid.recording;

import io.nereid.types.NereidException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Reads a segment from its beginning, up to the last whole record; one of another form is noted and
 * skipped. Contents are read again when they are asked for, so that little of a recording is in
 * memory. One thread reads records; any thread asks for contents, until it is closed.
 */
final class SegmentReader implements AutoCloseable {

  /** The most bytes that a byte of a deflated content stands for. */
  private static final long MOST_INFLATION = 1032;

  /** The place of a content in the file. */
  private record Place(long at, int length, byte coding, long byteSize) {}

  private final Path path;
  private final FileChannel file;
  private final List<Place> contents = new ArrayList<>();
  private final long fileSize;
  private final long recording;
  private final RequestReader requests;
  private long at = Format.HEADER_BYTES;
  private long dropped;
  private String damage = "";

  private SegmentReader(Path path, FileChannel file) throws IOException {
    this.path = path;
    this.file = file;
    fileSize = file.size();
    if (fileSize < Format.HEADER_BYTES) {
      recording = 0;
      requests = null;
      damage = path + ": expected a header of 32 bytes, got " + fileSize;
      return;
    }
    ByteBuffer header = read(0, Format.HEADER_BYTES);
    int expected = checksum(header.slice(0, Format.HEADER_BYTES - Integer.BYTES));
    if (header.getLong() != Format.MAGIC
        || header.getInt(Format.HEADER_BYTES - Integer.BYTES) != expected) {
      throw new IOException(path + " is no segment of a recording, or of another version");
    }
    long startEpochNs = header.getLong();
    recording = header.getLong();
    requests = new RequestReader(recording, startEpochNs, this::content);
  }

  static SegmentReader open(Path path) throws IOException {
    FileChannel file = FileChannel.open(path);
    try {
      return new SegmentReader(path, file);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Requests of its recording that were dropped before the last record that was read. */
  long dropped() {
    return dropped;
  }

  long recording() {
    return recording;
  }

  /** Says what was wrong first; empty: nothing that was written is lost. */
  String damage() {
    return damage;
  }

  /** Returns the next request; null: there is no other whole one. */
  RecordedCall next() throws IOException {
    while (at < fileSize) {
      ByteBuffer body = body();
      if (body == null) {
        at = fileSize; // there is no telling where the next record begins
        return null;
      }
      try {
        byte type = body.get();
        switch (type) {
          case Format.CONTENT -> addContent(body);
          case Format.REQUEST -> {
            return requests.read(body);
          }
          case Format.DROPPED -> dropped = body.getLong(body.position() + Long.BYTES);
          default -> {} // the end, or of a later version
        }
      } catch (BufferUnderflowException
          | IndexOutOfBoundsException
          | IllegalArgumentException
          | NereidException e) {
        damaged("a record of another form");
      }
    }
    return null;
  }

  /** Takes a size from the file only where so few bytes can be so many. */
  private void addContent(ByteBuffer body) {
    byte coding = body.get();
    int number = body.getInt();
    if (number != contents.size()) {
      damaged("content " + number + " follows " + contents.size());
      return;
    }
    long size = body.getLong();
    int length = body.remaining();
    long most = Math.min(Integer.MAX_VALUE, length * MOST_INFLATION);
    if (coding == Format.RAW ? size != length : size < 0 || size > most) {
      throw new IllegalArgumentException("size " + size);
    }
    contents.add(new Place(at - length, length, coding, size));
  }

  private void damaged(String why) {
    if (damage.isEmpty()) {
      damage = path + ", byte " + at + ": " + why;
    }
  }

  /** Returns the next body, whose checksum is right; null: there is none. */
  private ByteBuffer body() throws IOException {
    if (fileSize - at < Format.FRAME_BYTES) {
      damaged("the last record is not whole");
      return null;
    }
    ByteBuffer frame = read(at, Format.FRAME_BYTES);
    int length = frame.getInt();
    if (length <= 0 || length > fileSize - at - Format.FRAME_BYTES) {
      damaged("the last record is not whole");
      return null;
    }
    ByteBuffer body = read(at + Format.FRAME_BYTES, length);
    if (checksum(body.duplicate()) != frame.getInt()) {
      damaged("a record's checksum is wrong");
      return null;
    }
    at += Format.FRAME_BYTES + length;
    return body;
  }

  private ByteBuffer read(long from, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (file.read(bytes, from + bytes.position()) < 0) {
        throw new IOException(path + " has become shorter");
      }
    }
    return bytes.flip();
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }

  /** Finds a content that was read over, to be read when it is asked for. */
  private Supplier<ByteBuffer> content(int number) {
    Place place = contents.get(number);
    return () -> content(place);
  }

  private ByteBuffer content(Place place) {
    try {
      ByteBuffer stored = read(place.at(), place.length());
      if (place.coding() == Format.RAW) {
        return stored;
      }
      byte[] content = new byte[Math.toIntExact(place.byteSize())];
      Inflater inflater = new Inflater(true);
      try {
        inflater.setInput(stored);
        int size = inflater.inflate(content);
        if (size != content.length) {
          throw new IOException(path + ", byte " + place.at() + ": a content of another size");
        }
      } finally {
        inflater.end();
      }
      return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    } catch (DataFormatException e) {
      throw new UncheckedIOException(new IOException(path + ", byte " + place.at(), e));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
