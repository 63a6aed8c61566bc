package io.nereid.perf;

import java.nio.charset.StandardCharsets;

/**
 * A request as it goes over the wire, made once and sent many times. The head is what differs
 * between the requests of a sequence: its number and two flags, which have places of fixed width.
 *
 * @param head over HTTP the head and the JSON, over gRPC the message up to the tensors
 * @param tail the tensors; small ones over HTTP are part of the head
 * @param rows of the batch
 * @param marks where a sequence's values are; null: it is no part of one
 */
record Encoded(byte[] head, byte[] tail, int rows, Marks marks) {

  /** Numbers of this range have ten digits, and five bytes as protobuf's varints. */
  static final long FIRST_SEQUENCE_ID = 1_073_741_824L;

  static final long LAST_SEQUENCE_ID = 4_294_967_295L;

  private static final byte[] TRUE = "true ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

  /**
   * Positions in the head.
   *
   * @param text whether values are JSON, else protobuf
   */
  record Marks(boolean text, int id, int start, int end) {

    void write(byte[] head, long sequenceId, boolean isFirst, boolean isLast) {
      if (text) {
        long digits = sequenceId;
        for (int i = 9; i >= 0; i--) {
          head[id + i] = (byte) ('0' + digits % 10);
          digits /= 10;
        }
        System.arraycopy(isFirst ? TRUE : FALSE, 0, head, start, TRUE.length);
        System.arraycopy(isLast ? TRUE : FALSE, 0, head, end, TRUE.length);
        return;
      }
      for (int i = 0; i < 5; i++) {
        head[id + i] = (byte) (sequenceId >>> 7 * i & 0x7f | (i < 4 ? 0x80 : 0));
      }
      head[start] = (byte) (isFirst ? 1 : 0);
      head[end] = (byte) (isLast ? 1 : 0);
    }
  }

  long byteSize() {
    return (long) head.length + tail.length;
  }
}
