package io.nereid.stores;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** The texts and numbers of small JSON documents, such as files of credentials. */
final class SmallJson {

  private static final JsonFactory FACTORY = new JsonFactory();

  private SmallJson() {}

  /**
   * Returns all values by their names; those of objects inside others have the names of these and a
   * line break in front.
   */
  static Map<String, String> strings(String text) throws IOException {
    Map<String, String> values = new HashMap<>();
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("expected a JSON object");
      }
      read(parser, "", values);
    } catch (JacksonException e) {
      throw new IOException("expected JSON: " + e.getOriginalMessage(), e);
    }
    return values;
  }

  private static void read(JsonParser parser, String prefix, Map<String, String> values) {
    String name = "";
    for (JsonToken token = parser.nextToken();
        token != null && token != JsonToken.END_OBJECT;
        token = parser.nextToken()) {
      switch (token) {
        case PROPERTY_NAME -> name = parser.currentName();
        case START_OBJECT -> read(parser, prefix + name + "\n", values);
        case START_ARRAY -> parser.skipChildren();
        case VALUE_NULL -> {}
        default -> values.put(prefix + name, parser.getString());
      }
    }
  }
}
