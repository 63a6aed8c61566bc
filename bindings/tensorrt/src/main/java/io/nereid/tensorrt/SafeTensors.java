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
 * A file of weights in the format of safetensors, mapped until this is closed: the size of a
 * header, the header in JSON, and the bytes of the tensors one after another. A file that leaves
 * bytes out, or has a tensor of another size than its shape, is refused as a whole. One thread uses
 * it; the tensors' memory is that of the file.
 */
final class SafeTensors implements AutoCloseable {

  /** The format's own limit. */
  private static final long MAX_HEADER_BYTES = 100_000_000;

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

  /** The format's types: the bytes of an element, and TensorRT's type; null: it has none. */
  private enum Type {
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
  }

  /**
   * A tensor of the file.
   *
   * @param type as the file calls it
   * @param engineType TensorRT's; null: it has none
   * @param count its elements
   * @param bytes where they are
   */
  record Stored(
      String type, EngineType engineType, List<Long> shape, long count, MemorySegment bytes) {}

  /** The header's entry of a tensor. */
  private record Entry(String name, Type type, List<Long> shape, long begin, long end) {}

  private final Path file;
  private final Arena arena = Arena.ofShared();
  private final Map<String, Stored> tensors = new HashMap<>();

  /**
   * Maps a file and reads its header.
   *
   * @throws NereidException {@link StatusCode#INVALID_ARGUMENT} when it is no such file
   */
  SafeTensors(Path file) {
    this.file = file;
    boolean open = false;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      read(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena));
      open = true;
    } catch (IOException e) {
      throw new NereidException(StatusCode.NOT_FOUND, "cannot read the weights in " + file, e);
    } finally {
      if (!open) {
        arena.close();
      }
    }
  }

  /** All tensors by their names. */
  Map<String, Stored> tensors() {
    return Map.copyOf(tensors);
  }

  private void read(MemorySegment all) {
    if (all.byteSize() < Long.BYTES) {
      throw wrong("the size of a header in 8 bytes", all.byteSize() + " bytes");
    }
    long headerBytes = all.get(LONG, 0);
    long rest = all.byteSize() - Long.BYTES;
    if (headerBytes < 2 || headerBytes > Math.min(rest, MAX_HEADER_BYTES)) {
      throw wrong(
          "a header of at most " + Math.min(rest, MAX_HEADER_BYTES) + " bytes",
          "one of " + Long.toUnsignedString(headerBytes));
    }
    byte[] header = all.asSlice(Long.BYTES, headerBytes).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment bytes = all.asSlice(Long.BYTES + headerBytes);
    List<Entry> entries = new ArrayList<>();
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
    entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
    long end = 0;
    for (Entry entry : entries) {
      add(entry, end, bytes);
      end = entry.end;
    }
    if (end != bytes.byteSize()) {
      throw wrong(end + " bytes of tensors", bytes.byteSize() + " (is the file cut off?)");
    }
  }

  private Entry entry(String name, JsonParser json) {
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
        return new Entry(name, one, shape, offsets.get(0), offsets.get(1));
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

  private void add(Entry entry, long begin, MemorySegment bytes) {
    long count = 1;
    try {
      for (long size : entry.shape) {
        count = Math.multiplyExact(count, size);
      }
      count = Math.multiplyExact(count, entry.type.byteSize) / entry.type.byteSize;
    } catch (ArithmeticException e) {
      throw wrong("a shape that fits into memory for '" + entry.name + "'", "" + entry.shape);
    }
    long end = begin + count * entry.type.byteSize;
    if (entry.begin != begin || entry.end != end || end > bytes.byteSize()) {
      throw wrong(
          "'" + entry.name + "' of shape " + entry.shape + " at [" + begin + ", " + end + "]",
          "[" + entry.begin + ", " + entry.end + "] of " + bytes.byteSize() + " bytes");
    }
    tensors.put(
        entry.name,
        new Stored(
            entry.type.name(),
            entry.type.engineType,
            entry.shape,
            count,
            bytes.asSlice(begin, end - begin)));
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

  @Override
  public void close() {
    arena.close();
  }
}
