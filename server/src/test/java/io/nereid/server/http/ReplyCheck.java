package io.nereid.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/** Checks that bytes are whole replies in a row, none of which tells of a server's failure. */
final class ReplyCheck {

  private static final JsonFactory JSON =
      JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private final byte[] bytes;
  private final boolean heads; // some replies may have no body
  private int at;
  private int count;

  private ReplyCheck(byte[] bytes, boolean heads) {
    this.bytes = bytes;
    this.heads = heads;
  }

  /**
   * Fails unless all is as it should be; returns how many replies there are.
   *
   * @param heads whether the client may have asked for heads only
   */
  static int check(byte[] bytes, boolean heads) {
    ReplyCheck check = new ReplyCheck(bytes, heads);
    while (check.at < bytes.length) {
      check.one();
    }
    return check.count;
  }

  /** Whether a message is about what is not in the server's hands, though it answers with 500. */
  static boolean isTold(String message) {
    return message.contains("Unable to open shared memory region")
        || message.contains("shared memory size specified with the request")
        || message.contains("failed to load");
  }

  private void one() {
    String line = line();
    expect(line.matches("HTTP/1\\.1 [1-5][0-9][0-9] [A-Za-z ]+"), "a status line, got " + line);
    int status = Integer.parseInt(line.substring(9, 12));
    Map<String, String> fields = new TreeMap<>();
    for (String field = line(); !field.isEmpty(); field = line()) {
      int colon = field.indexOf(": ");
      expect(colon > 0, "a header field, got " + field);
      String name = field.substring(0, colon).toLowerCase(Locale.ROOT);
      String earlier = fields.put(name, field.substring(colon + 2));
      expect(earlier == null, "every field once, got a second " + name);
    }
    if (status == 100) {
      return;
    }
    count++;
    byte[] body = body(fields);
    if (body == null) {
      return;
    }
    String text = new String(body, StandardCharsets.UTF_8);
    expect(
        status < 500
            || (status == 500 && isTold(text))
            || status == 501
            || status == 504 // a request may set itself a time
            || status == 505
            || (status == 503
                && (text.contains("\"ready\":false") || text.contains("is not at ready state"))),
        "no failure of the server, got " + status + " " + text);
    String type = fields.getOrDefault("content-type", "");
    if (type.equals("application/json") && !fields.containsKey("content-encoding")) {
      json(body);
    } else if (fields.containsKey("inference-header-content-length")
        && !fields.containsKey("content-encoding")) {
      json(Arrays.copyOf(body, Integer.parseInt(fields.get("inference-header-content-length"))));
    }
  }

  /** Null: the reply is to a HEAD. */
  private byte[] body(Map<String, String> fields) {
    if ("chunked".equals(fields.get("transfer-encoding"))) {
      expect(!fields.containsKey("content-length"), "one framing, got two");
      return chunks();
    }
    if (!fields.containsKey("content-length")) {
      expect("close".equals(fields.get("connection")), "a length, got none");
      return take(bytes.length - at);
    }
    int length = Integer.parseInt(fields.get("content-length"));
    if (heads && length > 0 && (at == bytes.length || isNext("HTTP/1.1 "))) {
      return null;
    }
    return take(length);
  }

  private byte[] chunks() {
    StringBuilder all = new StringBuilder();
    while (true) {
      int length = Integer.parseInt(line(), 16);
      all.append(new String(take(length), StandardCharsets.ISO_8859_1));
      expect(line().isEmpty(), "a line end behind a chunk");
      if (length == 0) {
        return all.toString().getBytes(StandardCharsets.ISO_8859_1);
      }
    }
  }

  private boolean isNext(String text) {
    byte[] wanted = text.getBytes(StandardCharsets.US_ASCII);
    return bytes.length - at >= wanted.length
        && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length);
  }

  private byte[] take(int length) {
    expect(length >= 0 && length <= bytes.length - at, "a whole body, got its beginning");
    at += length;
    return Arrays.copyOfRange(bytes, at - length, at);
  }

  private String line() {
    int from = at;
    while (at < bytes.length && bytes[at] != '\n') {
      at++;
    }
    expect(at < bytes.length && at > from && bytes[at - 1] == '\r', "a whole line");
    at++;
    return new String(bytes, from, at - 2 - from, StandardCharsets.ISO_8859_1);
  }

  private void json(byte[] text) {
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text)) {
      int values = 0;
      while (parser.nextToken() != null) {
        if (parser.streamReadContext().inRoot()) {
          values++;
        }
      }
      expect(text.length == 0 || values > 0, "JSON");
    } catch (JacksonException e) {
      throw failure("JSON, got " + new String(text, StandardCharsets.UTF_8), e);
    }
  }

  private void expect(boolean holds, String what) {
    if (!holds) {
      throw failure(what, null);
    }
  }

  private AssertionError failure(String what, Throwable cause) {
    return new AssertionError(
        "expected " + what + " in " + new String(bytes, StandardCharsets.ISO_8859_1), cause);
  }
}
