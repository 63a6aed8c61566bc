package io.nereid.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/** Reads the JSON of servers, as a tree or token by token. */
final class JsonReading {

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .build();

  private JsonReading() {}

  static JsonParser parser(byte[] text, int offset, int length) {
    return JSON.createParser(ObjectReadContext.empty(), text, offset, length);
  }

  /** Reads a whole reply as maps, lists, strings, numbers, booleans and null. */
  static Object tree(HttpReply reply) {
    return tree(reply.text(), 0, reply.textLength());
  }

  /** Reads a whole text as maps, lists, strings, numbers, booleans and null. */
  static Object tree(byte[] text, int length) {
    return tree(text, 0, length);
  }

  /** Does the same as {@link #tree(byte[], int)}, for a part of an array. */
  static Object tree(byte[] text, int offset, int length) {
    try (JsonParser parser = parser(text, offset, length)) {
      if (parser.nextToken() == null) {
        throw InferenceException.malformed("expected JSON, got nothing");
      }
      Object tree = value(parser);
      if (parser.nextToken() != null) {
        throw InferenceException.malformed("something follows the JSON");
      }
      return tree;
    } catch (JacksonException e) {
      throw malformed(e);
    }
  }

  /** The members of a tree that must be an object. */
  static Map<String, Object> members(Object tree) {
    if (!(tree instanceof Map<?, ?> object)) {
      throw InferenceException.malformed("expected a JSON object");
    }
    Map<String, Object> members = new LinkedHashMap<>();
    object.forEach((name, value) -> members.put((String) name, value));
    return members;
  }

  /** Returns the value that begins at the parser's token; Jackson bounds the depth. */
  static Object value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Object> members = new LinkedHashMap<>();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
          parser.nextToken();
          members.put(name, value(parser));
        }
        yield members;
      }
      case START_ARRAY -> {
        List<Object> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          elements.add(value(parser));
        }
        yield elements;
      }
      default -> scalar(parser);
    };
  }

  private static Object scalar(JsonParser parser) {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> parser.getString();
      case VALUE_TRUE -> Boolean.TRUE;
      case VALUE_FALSE -> Boolean.FALSE;
      case VALUE_NUMBER_INT -> integer(parser);
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      default -> null;
    };
  }

  private static Number integer(JsonParser parser) {
    if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      return parser.getBigIntegerValue();
    }
    return parser.getLongValue();
  }

  static InferenceException malformed(JacksonException e) {
    return InferenceException.malformed(
        "its JSON cannot be parsed at byte %s: %s"
            .formatted(e.getLocation().getByteOffset(), e.getOriginalMessage()),
        e);
  }
}
