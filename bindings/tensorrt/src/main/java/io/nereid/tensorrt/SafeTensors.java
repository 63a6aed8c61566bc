package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/**
 * A file of weights in the format of safetensors: the size of a header, the header in JSON, and the
 * bytes of the tensors one after another. A file that leaves bytes out, or has a tensor of another
 * size than its shape, is refused as a whole. The file is read and not mapped, since truncating a
 * mapped file would end the process. One thread uses it; the tensors that were read are in its
 * memory until it is closed.
 */
final class SafeTensors implements AutoCloseable {

  private static final long MAX_HEADER_BYTES = 100_000_000;

  /** The bytes of one read, as a buffer of Java is limited to 2 GiB. */
  private static final long CHUNK_BYTES = 1L << 30;

  private static final int MAX_DEPTH = 8;
  private static final int MAX_NAME_LENGTH = 4095; // TensorRT's

  private static final String METADATA = "__metadata__";

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNameLength(MAX_NAME_LENGTH)
                  .build())
          .build();

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The format's types, with the bytes of an element and TensorRT's type; null: none. */
  enum Type {
    F64(8, null),
    F32(4, EngineType.FLOAT),
    F16(2, EngineType.HALF),
    BF16(2, EngineType.BF16),
    F8_E4M3(1, EngineType.FP8),
    F8_E5M2(1, null),
    I64(8, EngineType.INT64),
    I32(4, EngineType.INT32),
    I16(2, null),
    I8(1, EngineType.INT8),
    U64(8, null),
    U32(4, null),
    U16(2, null),
    U8(1, EngineType.UINT8),
    BOOL(1, EngineType.BOOL);

    private final int byteSize;
    private final EngineType engineType;

    Type(int byteSize, EngineType engineType) {
      this.byteSize = byteSize;
      this.engineType = engineType;
    }

    EngineType engineType() {
      return engineType;
    }
  }

  /** A tensor of the file; begin and end of its bytes count from the header's end. */
  record Stored(String name, Type type, List<Long> shape, long begin, long end) {

    long count() {
      return (end - begin) / type.byteSize;
    }
  }

  private final Path file;
  private final FileChannel channel;
  private final Arena arena = Arena.ofConfined();
  private final long fileBytes;
  private final long dataAt;
  private final Map<String, Stored> tensors = new HashMap<>();

  /**
   * Opens a file and reads its header.
   *
   * @throws NereidException {@link StatusCode#INVALID_ARGUMENT} it is no such file
   */
  SafeTensors(Path file) {
    this.file = file;
    try (Undo undo = new Undo()) {
      undo.add(arena::close);
      channel = undo.add(FileChannel.open(file, StandardOpenOption.READ));
      fileBytes = channel.size();
      dataAt = readHeader();
      undo.forget();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  Path name() {
    return file.getFileName();
  }

  Map<String, Stored> tensors() {
    return tensors;
  }

  MemorySegment read(Stored tensor) {
    return read(dataAt + tensor.begin, tensor.end - tensor.begin);
  }

  private MemorySegment read(long from, long byteSize) {
    MemorySegment bytes = arena.allocate(byteSize, Long.BYTES);
    try {
      for (long at = 0; at < byteSize; ) {
        long size = Math.min(CHUNK_BYTES, byteSize - at);
        int read = channel.read(bytes.asSlice(at, size).asByteBuffer(), from + at);
        if (read < 0) {
          throw wrong(fileBytes + " bytes", from + at + " (was the file cut off meanwhile?)");
        }
        at += read;
      }
      return bytes;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /** Reads the header; returns the offset of the tensors. */
  private long readHeader() {
    if (fileBytes < Long.BYTES) {
      throw wrong("the size of a header in 8 bytes", fileBytes + " bytes");
    }
    long headerBytes = read(0, Long.BYTES).get(LONG, 0);
    long most = Math.min(fileBytes - Long.BYTES, MAX_HEADER_BYTES);
    if (headerBytes < 2 || headerBytes > most) {
      throw wrong(
          "a header of at most " + most + " bytes", "one of " + Long.toUnsignedString(headerBytes));
    }
    byte[] header = read(Long.BYTES, headerBytes).toArray(ValueLayout.JAVA_BYTE);
    long dataBytes = fileBytes - Long.BYTES - headerBytes;
    List<Stored> entries = new ArrayList<>();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), header)) {
      expect(json.nextToken() == JsonToken.START_OBJECT, "an object", json);
      while (json.nextToken() != JsonToken.END_OBJECT) {
        String name = json.currentName();
        json.nextToken();
        if (name.equals(METADATA)) {
          json.skipChildren();
        } else {
          entries.add(entry(name, json));
        }
      }
      expect(json.nextToken() == null, "nothing behind the object", json);
    } catch (JacksonException e) {
      throw wrong("a header in JSON", e.getOriginalMessage());
    }
    entries.sort(Comparator.comparingLong(Stored::begin).thenComparingLong(Stored::end));
    long end = 0;
    for (Stored entry : entries) {
      check(entry, end, dataBytes);
      tensors.put(entry.name, entry);
      end = entry.end;
    }
    if (end != dataBytes) {
      throw wrong(end + " bytes of tensors", dataBytes + " (is the file cut off?)");
    }
    return Long.BYTES + headerBytes;
  }

  private Stored entry(String name, JsonParser json) {
    expect(json.currentToken() == JsonToken.START_OBJECT, "an object for '" + name + "'", json);
    String type = null;
    List<Long> shape = null;
    List<Long> offsets = null;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String key = json.currentName();
      json.nextToken();
      switch (key) {
        case "dtype" -> {
          expect(json.currentToken() == JsonToken.VALUE_STRING, "a text as dtype", json);
          type = json.getString();
        }
        case "shape" -> shape = numbers(json);
        case "data_offsets" -> offsets = numbers(json);
        default -> throw wrong("dtype, shape and data_offsets of '" + name + "'", "'" + key + "'");
      }
    }
    if (type == null || shape == null || offsets == null || offsets.size() != 2) {
      throw wrong("dtype, shape and two data_offsets of '" + name + "'", "less or more");
    }
    for (Type one : Type.values()) {
      if (one.name().equals(type)) {
        return new Stored(name, one, shape, offsets.get(0), offsets.get(1));
      }
    }
    throw wrong("a dtype such as F32 of '" + name + "'", "'" + type + "'");
  }

  private List<Long> numbers(JsonParser json) {
    expect(json.currentToken() == JsonToken.START_ARRAY, "an array of numbers", json);
    List<Long> numbers = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      expect(json.currentToken() == JsonToken.VALUE_NUMBER_INT, "a whole number", json);
      expect(json.getLongValue() >= 0, "a number that is not negative", json);
      numbers.add(json.getLongValue());
    }
    return List.copyOf(numbers);
  }

  private void check(Stored entry, long begin, long dataBytes) {
    long end;
    try {
      long count = entry.shape.stream().reduce(1L, Math::multiplyExact);
      end = Math.addExact(begin, Math.multiplyExact(count, entry.type.byteSize));
    } catch (ArithmeticException e) {
      throw wrong("a shape that fits into memory for '" + entry.name + "'", "" + entry.shape);
    }
    if (entry.begin != begin || entry.end != end || end > dataBytes) {
      throw wrong(
          "'%s' of shape %s at [%s, %s]".formatted(entry.name, entry.shape, begin, end),
          "[%s, %s] of %s bytes".formatted(entry.begin, entry.end, dataBytes));
    }
  }

  private void expect(boolean isSo, String what, JsonParser json) {
    if (!isSo) {
      throw wrong(what + " in the header", "" + json.currentToken());
    }
  }

  private NereidException wrong(String expected, String got) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        file + " is no file of safetensors: expected " + expected + ", got " + got);
  }

  private NereidException unreadable(IOException cause) {
    return new NereidException(StatusCode.NOT_FOUND, "cannot read the weights in " + file, cause);
  }

  @Override
  public void close() {
    try (Undo all = new Undo()) {
      all.add(arena::close);
      all.add(channel);
    }
  }
}
