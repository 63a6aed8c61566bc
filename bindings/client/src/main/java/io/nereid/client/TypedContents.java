package io.nereid.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.DataType;
import io.nereid.types.ByteStrings;
import com.google.protobuf.ByteString;
import io.nereid.proto.InferTensorContents;
import java.lang.foreign.MemorySegment;

/** Contents by type, in which some servers answer, as the bytes of a tensor. */
final class TypedContents {

  private TypedContents() {}

  static MemorySegment encode(String output, DataType type, InferTensorContents contents) {
    return switch (type) {
      case BOOL, INT8, UINT8 -> bytes(type, contents);
      case INT16, UINT16 -> shorts(type, contents);
      case INT32 ->
          fill(
              contents.getIntContentsCount(),
              4,
              (to, i) -> to.set(Layouts.INT, i * 4L, contents.getIntContents(i)));
      case UINT32 ->
          fill(
              contents.getUintContentsCount(),
              4,
              (to, i) -> to.set(Layouts.INT, i * 4L, contents.getUintContents(i)));
      case INT64 ->
          fill(
              contents.getInt64ContentsCount(),
              8,
              (to, i) -> to.set(Layouts.LONG, i * 8L, contents.getInt64Contents(i)));
      case UINT64 ->
          fill(
              contents.getUint64ContentsCount(),
              8,
              (to, i) -> to.set(Layouts.LONG, i * 8L, contents.getUint64Contents(i)));
      case FP32 ->
          fill(
              contents.getFp32ContentsCount(),
              4,
              (to, i) -> to.set(Layouts.FLOAT, i * 4L, contents.getFp32Contents(i)));
      case FP64 ->
          fill(
              contents.getFp64ContentsCount(),
              8,
              (to, i) -> to.set(Layouts.DOUBLE, i * 8L, contents.getFp64Contents(i)));
      case BYTES ->
          ByteStrings.encode(
              contents.getBytesContentsList().stream()
                  .map(ByteString::toByteArray)
                  .toArray(byte[][]::new));
      case FP16, BF16 ->
          throw InferenceException.malformed(
              "output '" + output + "' of " + type + " has no raw contents");
    };
  }

  private static MemorySegment bytes(DataType type, InferTensorContents contents) {
    return switch (type) {
      case BOOL ->
          fill(
              contents.getBoolContentsCount(),
              1,
              (to, i) -> to.set(JAVA_BYTE, i, (byte) (contents.getBoolContents(i) ? 1 : 0)));
      case INT8 ->
          fill(
              contents.getIntContentsCount(),
              1,
              (to, i) -> to.set(JAVA_BYTE, i, (byte) contents.getIntContents(i)));
      default ->
          fill(
              contents.getUintContentsCount(),
              1,
              (to, i) -> to.set(JAVA_BYTE, i, (byte) contents.getUintContents(i)));
    };
  }

  private static MemorySegment shorts(DataType type, InferTensorContents contents) {
    return type == DataType.INT16
        ? fill(
            contents.getIntContentsCount(),
            2,
            (to, i) -> to.set(Layouts.SHORT, i * 2L, (short) contents.getIntContents(i)))
        : fill(
            contents.getUintContentsCount(),
            2,
            (to, i) -> to.set(Layouts.SHORT, i * 2L, (short) contents.getUintContents(i)));
  }

  /** Puts one element where it belongs. */
  private interface Element {
    void put(MemorySegment to, int index);
  }

  private static MemorySegment fill(int count, int byteSize, Element element) {
    MemorySegment to = MemorySegment.ofArray(new byte[Math.multiplyExact(count, byteSize)]);
    for (int i = 0; i < count; i++) {
      element.put(to, i);
    }
    return to;
  }
}
