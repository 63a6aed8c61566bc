package io.nereid.server.http.seam;

import java.util.Arrays;

/**
 * The head of the last request of a connection, so that the same bytes are recognised: clients send
 * one head again and again. The thread that reads the connection uses it.
 */
final class KeptHead {

  /** Longer requests are Helidon's, whatever their heads: JSON takes 10 µs a KiB. */
  static final int MOST_BYTES = 4 << 10;

  /** So many requests with one head are Helidon's before the next ones pass it by. */
  private static final int FEW = 1;

  /** The same where heads turn out time and again to differ, or requests to take long. */
  private static final int MANY = 4096;

  private byte[] candidate; // of the present request; null: it did not come in one piece
  private byte[] kept; // null: the last request is not to be repeated
  private int bodyBytes; // behind it
  private int same; // requests in a row with this head
  private int wanted = FEW;

  /** Helidon gets the first bytes of a request. */
  void came(byte[] bytes) {
    int end = end(bytes);
    if (kept != null && end == kept.length && Arrays.equals(bytes, 0, end, kept, 0, end)) {
      candidate = kept;
      same++;
    } else {
      candidate = end < 0 ? null : Arrays.copyOf(bytes, end);
      same = 0;
    }
    kept = null;
  }

  /** The index at which the body begins; -1: these bytes do not have all of the head. */
  private static int end(byte[] bytes) {
    for (int i = 3; i < bytes.length; i++) {
      if (bytes[i] == '\n'
          && bytes[i - 2] == '\n'
          && bytes[i - 1] == '\r'
          && bytes[i - 3] == '\r') {
        return i + 1;
      }
    }
    return -1;
  }

  /** The present request may be repeated, with a body of as many bytes. */
  void keep(int body) {
    boolean fits = candidate != null && candidate.length + body <= MOST_BYTES;
    kept = fits ? candidate : null;
    bodyBytes = body;
  }

  /** True if the next request is likely to have the same head, and may pass Helidon by. */
  boolean isExpected() {
    return kept != null && same >= wanted;
  }

  /** True if these bytes are a whole request with the same head; it must be kept anew then. */
  boolean repeats(byte[] bytes, int count) {
    byte[] known = kept;
    if (known == null
        || count != known.length + bodyBytes
        || !Arrays.equals(bytes, 0, known.length, known, 0, known.length)) {
      return false;
    }
    candidate = known;
    kept = null;
    return true;
  }

  /** Bytes of the head in front of the body. */
  int length() {
    return candidate.length;
  }

  boolean isKept() {
    return kept != null;
  }

  /** Requests are Helidon's again after so many repeats. */
  void left(int repeats) {
    wanted = repeats > 64 ? FEW : Math.min(2 * wanted, MANY);
    same = 0;
  }
}
