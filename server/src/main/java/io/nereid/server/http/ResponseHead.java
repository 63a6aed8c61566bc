package io.nereid.server.http;

import io.nereid.server.shared.LoadReport;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Writes status lines and header fields. One for each connection. */
final class ResponseHead {

  /** What follows a 503: when trying again makes sense. */
  private static final String RETRY_AFTER = "Retry-After: 1\r\n";

  private static final String CONTENT_TYPE = "Content-Type: ";
  private static final byte[] JSON = ascii(CONTENT_TYPE + "application/json\r\n");
  private static final byte[] BINARY =
      ascii("Content-Type: application/octet-stream\r\nInference-Header-Content-Length: ");
  private static final byte[] EVENTS = ascii("Content-Type: text/event-stream; charset=utf-8\r\n");
  private static final byte[] CHUNKED = ascii("Transfer-Encoding: chunked\r\n");
  private static final byte[] LENGTH = ascii("Content-Length: ");
  private static final byte[] REQUEST_ID = ascii("X-Request-Id: ");
  private static final byte[] LOAD = ascii("endpoint-load-metrics: ");
  private static final byte[] CLOSE = ascii("Connection: close\r\n");
  private static final byte[] LINE_END = ascii("\r\n");

  private static volatile DateField date = new DateField(0, new byte[0]);

  private record DateField(long second, byte[] bytes) {}

  private final byte[] bytes = new byte[JsonBuffer.HEAD_ROOM];
  private int length;
  private Status status = Status.OK;
  private long contentLength;
  private String requestId; // null: the client has none
  private String moreFields = ""; // each with its line end
  private LoadReport load; // null: nobody asked for it
  private String loadFormat;
  private byte[] contentType = JSON;

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** What was written last. */
  Status status() {
    return status;
  }

  /** Bytes that follow it. */
  long contentLength() {
    return contentLength;
  }

  /** A new reply is to be made, which is JSON unless it is said to be something else. */
  void begin() {
    requestId = null;
    moreFields = "";
    load = null;
    loadFormat = null;
    contentType = JSON;
  }

  /** What kind of text the reply is. */
  void contentType(String type) {
    contentType = ascii(CONTENT_TYPE + type + "\r\n");
  }

  /** What the client calls the request that is answered next; null: nothing. */
  void requestId(String id) {
    requestId = id;
  }

  /** Fields of the next replies, each with its line end. */
  void moreFields(String fields) {
    moreFields = fields;
  }

  /** Tells the load in a format; {@code report} is null where nobody asked for it. */
  void load(LoadReport report, String format) {
    load = report;
    loadFormat = format;
  }

  /**
   * Writes a head.
   *
   * @param jsonLength bytes of the JSON part in front of binary data; -1: there is only JSON
   * @param more further fields, each with its line end
   */
  void write(Status status, long contentLength, long jsonLength, String more, boolean close) {
    this.status = status;
    this.contentLength = contentLength;
    length = 0;
    put(status.line());
    put(date());
    if (jsonLength >= 0) {
      put(BINARY);
      number(jsonLength);
      put(LINE_END);
    } else if (contentLength > 0) {
      put(contentType);
    }
    put(LENGTH);
    number(contentLength);
    put(LINE_END);
    if (status == Status.UNAVAILABLE) {
      put(ascii(RETRY_AFTER));
    }
    putRequestFields();
    putLoad();
    if (!more.isEmpty()) {
      put(ascii(more));
    }
    if (close) {
      put(CLOSE);
    }
    put(LINE_END);
  }

  /** What depends on the request. */
  private void putRequestFields() {
    if (!moreFields.isEmpty()) {
      put(ascii(moreFields));
    }
    if (requestId != null) {
      put(REQUEST_ID);
      put(ascii(requestId));
      put(LINE_END);
    }
  }

  private void putLoad() {
    String report = load == null ? null : load.in(loadFormat);
    if (report != null) {
      put(LOAD);
      put(ascii(report));
      put(LINE_END);
    }
  }

  /** Writes the head of a reply of events, whose length is not known: it is added to. */
  void writeEventStream(boolean chunked, boolean close) {
    status = Status.OK;
    contentLength = 0;
    length = 0;
    put(status.line());
    put(date());
    put(EVENTS);
    if (chunked) {
      put(CHUNKED);
    }
    putRequestFields();
    putLoad();
    if (close) {
      put(CLOSE);
    }
    put(LINE_END);
  }

  /** More bytes follow it. */
  void addContent(long bytes) {
    contentLength += bytes;
  }

  /** Begins with nothing. */
  void clear() {
    length = 0;
  }

  /** Writes what goes behind the head. */
  void append(String text) {
    put(ascii(text));
  }

  private void put(byte[] text) {
    System.arraycopy(text, 0, bytes, length, text.length);
    length += text.length;
  }

  private void number(long value) {
    long rest = value;
    int at = length + 19;
    do {
      bytes[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    int digits = length + 19 - at;
    System.arraycopy(bytes, at, bytes, length, digits);
    length += digits;
  }

  /** Formatted once in a second. */
  private static byte[] date() {
    long second = System.currentTimeMillis() / 1000;
    DateField known = date;
    if (known.second != second) {
      String text =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(
              Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC));
      // The format leaves the zero off the day of the month, which HTTP wants.
      String padded = text.charAt(6) == ' ' ? text.substring(0, 5) + "0" + text.substring(5) : text;
      known = new DateField(second, ascii("Date: " + padded + "\r\n"));
      date = known;
    }
    return known.bytes;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
