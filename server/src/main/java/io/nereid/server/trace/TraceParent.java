package io.nereid.server.trace;

/**
 * What a client says of the trace that its request belongs to, by W3C Trace Context.
 *
 * @param traceId 32 lower-case hexadecimal digits
 * @param spanId 16 of them
 * @param sampled whether the client traces it
 * @param state what vendors added; may be empty
 */
record TraceParent(String traceId, String spanId, boolean sampled, String state) {

  private static final int LENGTH = 55;

  /** The state that has to be passed on; a longer one may be dropped. */
  private static final int MOST_STATE = 512;

  /** Null when there is none, or what is there is not valid. */
  static TraceParent parse(String traceparent, String tracestate) {
    if (traceparent == null || traceparent.length() < LENGTH) {
      return null;
    }
    boolean dashes =
        traceparent.charAt(2) == '-'
            && traceparent.charAt(35) == '-'
            && traceparent.charAt(52) == '-';
    boolean hex =
        isHex(traceparent, 0, 2)
            && isHex(traceparent, 3, 35)
            && isHex(traceparent, 36, 52)
            && isHex(traceparent, 53, 55);
    boolean first = traceparent.startsWith("00");
    boolean length =
        traceparent.length() == LENGTH || (!first && traceparent.charAt(LENGTH) == '-');
    if (!dashes || !hex || !length || traceparent.startsWith("ff")) {
      return null;
    }
    String traceId = traceparent.substring(3, 35);
    String spanId = traceparent.substring(36, 52);
    if (isZero(traceId) || isZero(spanId)) {
      return null;
    }
    boolean sampled = (Character.digit(traceparent.charAt(54), 16) & 1) != 0;
    boolean keepsState = tracestate != null && tracestate.length() <= MOST_STATE;
    return new TraceParent(traceId, spanId, sampled, keepsState ? tracestate : "");
  }

  private static boolean isHex(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return true;
  }

  private static boolean isZero(String digits) {
    return digits.chars().allMatch(digit -> digit == '0');
  }
}
