package io.nereid.server.wire;

import java.util.HashMap;
import java.util.Map;

/**
 * The fields that HPACK (RFC 7541) has numbers for: 61 that are always the same, and behind them
 * those that one side of a connection has added, the newest first. For one thread at a time.
 */
final class HpackTable {

  /** What both sides begin with, and the most that is used here. */
  static final int MAX_BYTES = 4096;

  /** What a field takes beside its text. */
  static final int ENTRY_BYTES = 32;

  private static final String[] STATIC =
      """
      :authority
      :method GET
      :method POST
      :path /
      :path /index.html
      :scheme http
      :scheme https
      :status 200
      :status 204
      :status 206
      :status 304
      :status 400
      :status 404
      :status 500
      accept-charset
      accept-encoding gzip, deflate
      accept-language
      accept-ranges
      accept
      access-control-allow-origin
      age
      allow
      authorization
      cache-control
      content-disposition
      content-encoding
      content-language
      content-length
      content-location
      content-range
      content-type
      cookie
      date
      etag
      expect
      expires
      from
      host
      if-match
      if-modified-since
      if-none-match
      if-range
      if-unmodified-since
      last-modified
      link
      location
      max-forwards
      proxy-authenticate
      proxy-authorization
      range
      referer
      refresh
      retry-after
      server
      set-cookie
      strict-transport-security
      transfer-encoding
      user-agent
      vary
      via
      www-authenticate
      """
          .split("\n");

  private static final int STATIC_COUNT = STATIC.length;

  private static final String[] NAMES = new String[STATIC_COUNT];
  private static final String[] VALUES = new String[STATIC_COUNT];
  private static final Map<String, Integer> FIRST_OF_NAME = new HashMap<>();

  static {
    for (int i = 0; i < STATIC_COUNT; i++) {
      String[] field = STATIC[i].split(" ", 2);
      NAMES[i] = field[0].intern();
      VALUES[i] = field.length == 1 ? "" : field[1].intern();
      FIRST_OF_NAME.putIfAbsent(NAMES[i], i + 1);
    }
  }

  private final String[] names = new String[MAX_BYTES / ENTRY_BYTES]; // a ring
  private final String[] values = new String[names.length];
  private int newest; // where the next one goes is behind it
  private int count;
  private int bytes;
  private int maxBytes = MAX_BYTES;
  private int changes;

  /** How many fields there are with numbers from 1. */
  int count() {
    return STATIC_COUNT + count;
  }

  /** Tells whether the table changed between two calls. */
  int changes() {
    return changes;
  }

  int maxBytes() {
    return maxBytes;
  }

  /** Says how much its fields may take, which is not more than {@link #MAX_BYTES}. */
  void maxBytes(int most) {
    changes++;
    maxBytes = most;
    evict(0);
  }

  /** The name of a field by its number, of which there is one. */
  String name(int number) {
    return number <= STATIC_COUNT ? NAMES[number - 1] : names[place(number)];
  }

  /** The value of a field by its number, of which there is one. */
  String value(int number) {
    return number <= STATIC_COUNT ? VALUES[number - 1] : values[place(number)];
  }

  /**
   * Looks for a field: gives its number, or one of its name, which is negative then, or 0 where the
   * name is not known either.
   */
  int number(String name, String value) {
    int first = FIRST_OF_NAME.getOrDefault(name, 0);
    for (int i = first; i > 0 && i <= STATIC_COUNT && NAMES[i - 1].equals(name); i++) {
      if (VALUES[i - 1].equals(value)) {
        return i;
      }
    }
    int sameName = -first;
    for (int i = 0; i < count; i++) {
      int place = newest - i & names.length - 1;
      if (names[place].equals(name)) {
        if (values[place].equals(value)) {
          return STATIC_COUNT + 1 + i;
        }
        sameName = sameName == 0 ? -(STATIC_COUNT + 1 + i) : sameName;
      }
    }
    return sameName;
  }

  private int place(int number) {
    return newest - (number - STATIC_COUNT - 1) & names.length - 1;
  }

  /** Adds a field, for which others go; one that is larger than the table only empties it. */
  void add(String name, String value) {
    changes++;
    int size = entryBytes(name, value);
    evict(size);
    if (size <= maxBytes) {
      newest = newest + 1 & names.length - 1;
      names[newest] = name;
      values[newest] = value;
      count++;
      bytes += size;
    }
  }

  private void evict(int room) {
    while (count > 0 && bytes + room > maxBytes) {
      int oldest = newest - (count - 1) & names.length - 1;
      bytes -= entryBytes(names[oldest], values[oldest]);
      names[oldest] = null;
      values[oldest] = null;
      count--;
    }
  }

  static int entryBytes(String name, String value) {
    return ENTRY_BYTES + name.length() + value.length();
  }
}
