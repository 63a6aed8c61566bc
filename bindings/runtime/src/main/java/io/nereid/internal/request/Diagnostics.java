package io.nereid.internal.request;

import java.lang.System.Logger.Level;

/**
 * What helps to find mistakes in the use of requests and responses. Both are system properties,
 * read once, and off by default; what is off costs nothing, as the compiler leaves it out.
 */
public final class Diagnostics {

  /** {@code nereid.leaks=record}: each request remembers where it was made. */
  public static final boolean RECORDS_LEAKS = recordsLeaks(System.getProperty("nereid.leaks"));

  /**
   * {@code nereid.checked=true}: segments of requests, responses and batches fail when these were
   * closed, and memory that was given back is overwritten.
   */
  public static final boolean CHECKED = Boolean.getBoolean("nereid.checked");

  private Diagnostics() {}

  private static boolean recordsLeaks(String value) {
    if (value != null && !value.equals("record")) {
      System.getLogger("io.nereid")
          .log(Level.WARNING, "nereid.leaks is ''{0}'', the only value it knows is record", value);
    }
    return "record".equals(value);
  }
}
