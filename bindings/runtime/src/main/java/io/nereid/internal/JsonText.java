package io.nereid.internal;

import java.io.StringWriter;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** JSON out of maps, lists, texts, numbers and truths, each in its order. */
public final class JsonText {

  private static final JsonFactory JSON = new JsonFactory();

  private JsonText() {}

  /** An object, which is made member by member. */
  public static final class Members {
    private final Map<String, Object> members = new LinkedHashMap<>();

    private Members() {}

    /** Adds a member. */
    public Members with(String name, Object value) {
      members.put(name, value);
      return this;
    }
  }

  /** An object without members. */
  public static Members object() {
    return new Members();
  }

  /** The text of a value, on one line. */
  public static String of(Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      write(json, value);
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, Object value) {
    switch (value) {
      case Members object -> write(json, object.members);
      case Map<?, ?> object -> {
        json.writeStartObject();
        object.forEach((name, member) -> {
          json.writeName((String) name);
          write(json, member);
        });
        json.writeEndObject();
      }
      case List<?> array -> {
        json.writeStartArray();
        array.forEach(element -> write(json, element));
        json.writeEndArray();
      }
      case String text -> json.writeString(text);
      case Boolean truth -> json.writeBoolean(truth);
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case BigInteger number -> json.writeNumber(number);
      // JSON has no numbers for infinities and NaN: they are written as words in quotes.
      case Float number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      default -> throw new IllegalArgumentException("no JSON for " + value.getClass());
    }
  }
}
