package io.nereid.recording;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Knows where in a message of {@link MessageDraft} the contents are, and where in its body their
 * numbers: a tensor there has role, data type, absence, rank, number of the content (int), size
 * (long), dimensions (longs), name.
 */
final class TensorHead {

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The size of what every tensor has, without its dimensions and its name. */
  static final int FIXED_BYTES = 16;

  private static final int ABSENCE = 2;
  private static final int RANK = 3;
  private static final int NUMBER = 4;
  private static final int SIZE = 8;

  private TensorHead() {}

  /** Gives contents their numbers. */
  interface Numbering {
    /** Returns the number of a content, which lies in the message. */
    int number(MemorySegment content) throws IOException;
  }

  /** Writes the numbers of all contents into the body of a message, and returns the body. */
  static MemorySegment numbered(MemorySegment message, Numbering contents) throws IOException {
    int length = message.get(INT, 0);
    MemorySegment body = message.asSlice(MessageDraft.HEAD_BYTES, length);
    long contentAt = MessageDraft.HEAD_BYTES + length;
    long at = message.get(INT, Integer.BYTES);
    int count = Short.toUnsignedInt(body.get(SHORT, at));
    at += Short.BYTES;
    for (int i = 0; i < count; i++) {
      if (body.get(ValueLayout.JAVA_BYTE, at + ABSENCE) == Format.THERE) {
        long size = body.get(LONG, at + SIZE);
        body.set(INT, at + NUMBER, contents.number(message.asSlice(contentAt, size)));
        contentAt += size;
      }
      long rank = body.get(ValueLayout.JAVA_BYTE, at + RANK);
      long nameAt = at + FIXED_BYTES + rank * Long.BYTES;
      at = nameAt + Integer.BYTES + body.get(INT, nameAt);
    }
    return body;
  }
}
