package io.nereid.server.http.seam;

import java.util.Arrays;

/**
 * Recognises the head of a connection's last request when it comes again: clients often repeat
 * their head. The thread that reads the connection uses it.
 */
final class KeptHead {

  /** Helidon gets longer requests in any case: their JSON takes 10 µs a KiB. */
  static final int MOST_BYTES = 4 << 10;

  /** The number of requests with one head that Helidon gets before repeats bypass it. */
  private static final int FEW = 1;

  /** The same number for a connection whose heads often change, or whose requests take long. */
  private static final int MANY = 4096;

  private byte[] candidate; // the present request's; null: not known, or not in one piece
  private byte[] kept; // null: the last request is not to be repeated
  private int bodyBytes; // behind it
  private int same; // requests in a row with this head
  private int wanted = FEW;

  /** Takes the first bytes of a request, which Helidon gets. */
  void came(byte[] bytes) {
    int end = end(bytes, bytes.length);
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
  static int end(byte[] bytes, int count) {
    for (int i = 3; i < count; i++) {
      if (bytes[i] == '\n'
          && bytes[i - 2] == '\n'
          && bytes[i - 1] == '\r'
          && bytes[i - 3] == '\r') {
        return i + 1;
      }
    }
    return -1;
  }

  /** Keeps the present head for repeats with a body of as many bytes. */
  void keep(int body) {
    boolean fits = candidate != null && candidate.length + body <= MOST_BYTES;
    kept = fits ? candidate : null;
    bodyBytes = body;
  }

  /** True if the next request is likely to have the same head, and may bypass Helidon. */
  boolean isExpected() {
    return kept != null && same >= wanted;
  }

  /** True if these bytes are a whole request with the same head, which must then be kept anew. */
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

  /** The length of the kept head. */
  int length() {
    return candidate.length;
  }

  boolean isKept() {
    return kept != null;
  }

  /** Notes that Helidon gets requests again, after so many repeats. */
  void left(int repeats) {
    wanted = repeats > 64 ? FEW : Math.min(2 * wanted, MANY);
    same = 0;
  }
}
