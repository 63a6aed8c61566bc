package io.nereid.server.grpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Decodes an {@code InferTensorContents} into a tensor's memory, on the thread that reads the
 * message. Narrow integers are the low bytes of the field's elements. Elements that do not fit are
 * counted, so that the message can say how many there were.
 */
final class ContentsDecoder {

  private static final int BOOLS = 1;
  private static final int INTS = 2;
  private static final int LONGS = 3;
  private static final int UINTS = 4;
  private static final int ULONGS = 5;
  private static final int FLOATS = 6;
  private static final int DOUBLES = 7;
  private static final int BYTE_STRINGS = 8;

  /** The longest array. */
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  /** The datatype that stands for each field in messages. */
  private static final DataType[] FIELD_TYPES = {
    null,
    DataType.BOOL,
    DataType.INT32,
    DataType.INT64,
    DataType.UINT32,
    DataType.UINT64,
    DataType.FP32,
    DataType.FP64,
    DataType.BYTES
  };

  private final DataType type;
  private final int field; // 0: no field has the type
  private final MemorySegment target; // null: elements are only counted
  private final long capacity; // in elements

  private long count;
  private int fieldsSeen; // a bit for each field that had elements

  private byte[] encoded = {}; // elements of BYTES, encoded as in a tensor
  private int encodedLength;

  /** For contents of an input of this type, whose memory is {@code target}. */
  ContentsDecoder(DataType type, MemorySegment target) {
    this.type = type;
    this.target = target;
    field = field(type);
    capacity = target == null ? 0 : target.byteSize() / type.byteSize();
  }

  private static int field(DataType type) {
    return switch (type) {
      case BOOL -> BOOLS;
      case INT8, INT16, INT32 -> INTS;
      case INT64 -> LONGS;
      case UINT8, UINT16, UINT32 -> UINTS;
      case UINT64 -> ULONGS;
      case FP32 -> FLOATS;
      case FP64 -> DOUBLES;
      case BYTES -> BYTE_STRINGS;
      case FP16, BF16 -> 0;
    };
  }

  /** The fewest bytes of an element on the wire. */
  static int leastWireBytes(DataType type) {
    return switch (field(type)) {
      case FLOATS -> Float.BYTES;
      case DOUBLES -> Double.BYTES;
      default -> 1;
    };
  }

  /** Elements in the field that belongs to the type. */
  long count() {
    return count;
  }

  /** The elements of BYTES as they lie in a tensor: the first {@link #encodedLength} bytes. */
  byte[] encoded() {
    return encoded;
  }

  int encodedLength() {
    return encodedLength;
  }

  /** The type of a field with elements, if it is not the input's; else null. */
  DataType foreignType() {
    int foreign = fieldsSeen & ~(1 << field);
    return foreign == 0 ? null : FIELD_TYPES[Integer.numberOfTrailingZeros(foreign)];
  }

  /** True if elements are in more than one field. */
  boolean isAmbiguous() {
    return Integer.bitCount(fieldsSeen) > 1;
  }

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads to the end of the innermost message. */
  void read(WireReader in) {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      int number = tag >>> 3;
      int wireType = tag & 7;
      if (number <= ULONGS && wireType == WireReader.VARINT) {
        number(number, in.readVarint());
      } else if (number <= ULONGS && wireType == WireReader.DELIMITED) {
        readNumbers(number, in);
      } else if (number == FLOATS && wireType == WireReader.FIXED32) {
        number(number, in.readFixed32());
      } else if (number == DOUBLES && wireType == WireReader.FIXED64) {
        number(number, in.readFixed64());
      } else if (number == FLOATS && wireType == WireReader.DELIMITED) {
        readFixed(number, Float.BYTES, in);
      } else if (number == DOUBLES && wireType == WireReader.DELIMITED) {
        readFixed(number, Double.BYTES, in);
      } else if (number == BYTE_STRINGS && wireType == WireReader.DELIMITED) {
        readByteString(in);
      } else {
        in.skipField(tag);
      }
    }
  }

  private void readNumbers(int number, WireReader in) {
    int length = in.readLength();
    long outer = in.enter(length);
    while (in.remaining() > 0) {
      number(number, in.readVarint());
    }
    in.leave(outer);
  }

  private void number(int number, long value) {
    fieldsSeen |= 1 << number;
    if (number != field) {
      return;
    }
    if (count < capacity) {
      store(value);
    }
    count++;
  }

  private void store(long value) {
    switch (type) {
      case BOOL -> target.set(JAVA_BYTE, count, (byte) (value != 0 ? 1 : 0));
      case INT8, UINT8 -> target.set(JAVA_BYTE, count, (byte) value);
      case INT16, UINT16 -> target.set(JAVA_SHORT_UNALIGNED, count * Short.BYTES, (short) value);
      case INT32, UINT32, FP32 ->
          target.set(JAVA_INT_UNALIGNED, count * Integer.BYTES, (int) value);
      case INT64, UINT64, FP64 -> target.set(JAVA_LONG_UNALIGNED, count * Long.BYTES, value);
      case FP16, BF16, BYTES -> throw new AssertionError(type);
    }
  }

  /** Reads elements that have the same bytes on the wire as in memory. */
  private void readFixed(int number, int elementBytes, WireReader in) {
    int length = in.readLength();
    if (length % elementBytes != 0) {
      throw WireReader.malformed("a packed field ends within an element");
    }
    if (length == 0) {
      return;
    }
    fieldsSeen |= 1 << number;
    long stored = 0;
    if (number == field) {
      long elements = length / elementBytes;
      stored = Math.max(0, Math.min(elements, capacity - count)) * elementBytes;
      if (stored > 0) {
        in.readTo(target, count * elementBytes, stored);
      }
      count += elements;
    }
    in.skip(length - stored);
  }

  private void readByteString(WireReader in) {
    int length = in.readLength();
    fieldsSeen |= 1 << BYTE_STRINGS;
    if (field != BYTE_STRINGS) {
      in.skip(length);
      return;
    }
    byte[] element = in.readBytes(length);
    long neededBytes = (long) encodedLength + Integer.BYTES + length;
    if (neededBytes > MOST_BYTES) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "bytes_contents of one input may take " + MOST_BYTES + " bytes in memory");
    }
    int needed = (int) neededBytes;
    if (needed > encoded.length) {
      encoded = Arrays.copyOf(encoded, (int) Math.min(MOST_BYTES, 2L * needed));
    }
    for (int i = 0; i < Integer.BYTES; i++) {
      encoded[encodedLength + i] = (byte) (length >>> 8 * i);
    }
    System.arraycopy(element, 0, encoded, encodedLength + Integer.BYTES, length);
    encodedLength = needed;
    count++;
  }
}
