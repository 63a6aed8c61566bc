package io.nereid.server.trace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The trace that a client says its request belongs to, by W3C Trace Context.
 *
 * @param traceId 32 lower-case hexadecimal digits
 * @param spanId 16 of them
 * @param sampled whether the client traces it
 * @param state what vendors added; may be empty
 */
record TraceParent(String traceId, String spanId, boolean sampled, String state) {

  /** Version, trace, span, flags and what newer versions add. Neither id is zero. */
  private static final Pattern FORMAT =
      Pattern.compile(
          "(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])"
              + "(-.*)?",
          Pattern.DOTALL);

  /** The state that has to be passed on; a longer one may be dropped. */
  private static final int MOST_STATE = 512;

  /** Reads the two header fields; null when there is none, or what is there is not valid. */
  static TraceParent parse(String traceparent, String tracestate) {
    if (traceparent == null) {
      return null;
    }
    Matcher fields = FORMAT.matcher(traceparent);
    if (!fields.matches() || (fields.group(1).equals("00") && fields.group(5) != null)) {
      return null;
    }
    boolean sampled = (Character.digit(fields.group(4).charAt(0), 16) & 1) != 0;
    boolean keepsState = tracestate != null && tracestate.length() <= MOST_STATE;
    return new TraceParent(fields.group(2), fields.group(3), sampled, keepsState ? tracestate : "");
  }
}
