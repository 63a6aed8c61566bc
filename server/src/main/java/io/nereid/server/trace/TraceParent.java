package io.nereid.server.trace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The client's trace to which a request belongs, by W3C Trace Context.
 *
 * @param traceId 32 lower-case hexadecimal digits
 * @param spanId 16 such digits
 * @param sampled whether the client traces it
 * @param state additions of vendors; may be empty
 */
record TraceParent(String traceId, String spanId, boolean sampled, String state) {

  /** Version, trace, span, flags and additions of newer versions. Neither id is zero. */
  private static final Pattern FORMAT =
      Pattern.compile(
          "(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])"
              + "(-.*)?",
          Pattern.DOTALL);

  /** The length up to which the state must be passed on; a longer one may be dropped. */
  private static final int MOST_STATE = 512;

  /** Reads the two header fields; null if there is none, or an invalid one. */
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
