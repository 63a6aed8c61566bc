package io.nereid.server.shared;

/** Cuts messages for clients, which may quote the client's own text. Any thread may call it. */
public final class CutText {

  private static final String ELLIPSIS = "...";

  private CutText() {}

  /** Returns the message, cut to so many bytes of percent-encoded UTF-8; null stays null. */
  public static String cut(String message, int mostBytes) {
    int bytes = 0;
    for (int i = 0; message != null && i < message.length(); i++) {
      bytes += encodedBytes(message.charAt(i));
      if (bytes > mostBytes - ELLIPSIS.length()) {
        int end = Character.isLowSurrogate(message.charAt(i)) ? i - 1 : i;
        return message.substring(0, Math.max(0, end)) + ELLIPSIS;
      }
    }
    return message;
  }

  /**
   * An upper bound in percent-encoded UTF-8; half of a surrogate pair counts as two of its four
   * bytes.
   */
  private static int encodedBytes(char c) {
    if (c >= ' ' && c <= '~' && c != '%') {
      return 1;
    }
    if (c < 0x80) {
      return 3;
    }
    return c < 0x800 || Character.isSurrogate(c) ? 6 : 9;
  }
}
