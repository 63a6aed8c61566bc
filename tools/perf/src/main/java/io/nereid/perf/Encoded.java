package io.nereid.perf;

import java.nio.charset.StandardCharsets;

/**
 * A request encoded for the wire, made once and sent many times. Only the head differs from request
 * to request, in fields of fixed width: the id, a sequence's number and two flags.
 *
 * @param head over HTTP the head and the JSON, over gRPC the message up to the tensors
 * @param tail the tensors; small ones over HTTP are part of the head
 * @param the rows of its batch
 * @param marks the places of these fields; null: none
 */
record Encoded(byte[] head, byte[] tail, int rows, Marks marks) {

  /** Numbers of this range have ten digits, and five bytes as protobuf's varints. */
  static final long FIRST_SEQUENCE_ID = 1_073_741_824L;

  static final long LAST_SEQUENCE_ID = 4_294_967_295L;

  /** The digits of a request's id. */
  static final int ID_DIGITS = 16;

  private static final byte[] TRUE = "true ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

  /**
   * Positions in the head.
   *
   * @param text whether values are JSON, else protobuf
   * @param requestId of the request's id; -1: none
   * @param id of the sequence's number; -1, as the next two: no sequence
   */
  record Marks(boolean text, int requestId, int id, int start, int end) {

    void writeRequestId(byte[] head, long number) {
      digits(head, requestId, ID_DIGITS, number);
    }

    private static void digits(byte[] head, int at, int count, long number) {
      long rest = number;
      for (int i = count - 1; i >= 0; i--) {
        head[at + i] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
    }

    void writeSequence(byte[] head, long sequenceId, boolean isFirst, boolean isLast) {
      if (text) {
        digits(head, id, 10, sequenceId);
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
