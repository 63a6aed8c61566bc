package io.nereid.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** Writes JSON in UTF-8 into an array that grows. For one thread. */
final class JsonWriter {

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private byte[] bytes = new byte[512];
  private int size;

  /** Writes punctuation and other ASCII text without escapes. */
  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  JsonWriter raw(String text) {
    int length = text.length();
    reserve(length);
    text.getBytes(0, length, bytes, size);
    size += length;
    return this;
  }

  JsonWriter raw(char character) {
    reserve(1);
    bytes[size++] = (byte) character;
    return this;
  }

  JsonWriter string(String text) {
    return string(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a string from UTF-8. */
  JsonWriter string(byte[] utf8) {
    reserve(utf8.length + 2);
    bytes[size++] = '"';
    for (byte next : utf8) {
      if (next >= 0 && next < ' ' || next == '"' || next == '\\') {
        escape(next);
      } else {
        reserve(1);
        bytes[size++] = next;
      }
    }
    return raw('"');
  }

  private void escape(byte character) {
    reserve(6);
    bytes[size++] = '\\';
    if (character >= ' ') {
      bytes[size++] = character;
      return;
    }
    raw("u00");
    bytes[size++] = HEX[character >> 4];
    bytes[size++] = HEX[character & 15];
  }

  JsonWriter number(long value) {
    return raw(Long.toString(value));
  }

  /** Writes a boolean, a number, a string, null, or a map or list of such values. */
  JsonWriter value(Object value) {
    if (value instanceof String text) {
      return string(text);
    }
    if (value == null || value instanceof Boolean || value instanceof Number) {
      return raw(String.valueOf(value));
    }
    if (value instanceof Map<?, ?> members) {
      return object(members);
    }
    if (value instanceof Iterable<?> elements) {
      return array(elements);
    }
    throw new IllegalArgumentException(
        "expected what JSON can hold, got a " + value.getClass().getName());
  }

  private JsonWriter object(Map<?, ?> members) {
    char before = '{';
    for (Map.Entry<?, ?> member : members.entrySet()) {
      raw(before).string(member.getKey().toString()).raw(':').value(member.getValue());
      before = ',';
    }
    return raw(before == '{' ? "{}" : "}");
  }

  private JsonWriter array(Iterable<?> elements) {
    char before = '[';
    for (Object element : elements) {
      raw(before).value(element);
      before = ',';
    }
    return raw(before == '[' ? "[]" : "]");
  }

  /** Writes the members of an object, without braces; true if there are any. */
  boolean members(Map<String, Object> members) {
    boolean any = false;
    for (Map.Entry<String, Object> member : members.entrySet()) {
      if (any) {
        raw(',');
      }
      string(member.getKey()).raw(':').value(member.getValue());
      any = true;
    }
    return any;
  }

  JsonWriter shape(long[] shape) {
    raw('[');
    for (int i = 0; i < shape.length; i++) {
      if (i > 0) {
        raw(',');
      }
      number(shape[i]);
    }
    return raw(']');
  }

  private void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(size, more), size + (size >> 1)));
    }
  }

  int size() {
    return size;
  }

  /** The bytes, which are the first {@link #size} of this array. */
  byte[] array() {
    return bytes;
  }
}
