package io.nereid.server.http;

import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/** Reads bodies that are a JSON object, member by member. */
final class JsonBody {

  private JsonBody() {}

  /** What is done with a member of the object; the parser is at its value. */
  interface MemberReader {
    void read(String name, JsonParser parser);
  }

  /** Reads the whole body; an empty one is an empty object. */
  static void read(HttpContext context, RequestBody body, MemberReader reader) throws IOException {
    read(context, body, true, reader);
  }

  /** Reads the whole body, which must not be empty. */
  static void readPresent(HttpContext context, RequestBody body, MemberReader reader)
      throws IOException {
    read(context, body, false, reader);
  }

  private static void read(
      HttpContext context, RequestBody body, boolean mayBeEmpty, MemberReader reader)
      throws IOException {
    try (JsonParser parser =
        context.json().createParser(ObjectReadContext.empty(), body.stream(Long.MAX_VALUE))) {
      JsonToken first = parser.nextToken();
      if (first == null && mayBeEmpty) {
        return;
      }
      if (first != JsonToken.START_OBJECT) {
        throw HttpFailure.badRequest(
            "failed to parse the request JSON buffer: expected an object, got "
                + (first == null ? "nothing" : first));
      }
      readMembers(parser, reader);
      if (parser.nextToken() != null) {
        throw HttpFailure.badRequest(
            "failed to parse the request JSON buffer: expected nothing behind the object");
      }
    } catch (JacksonException e) {
      throw JsonParsing.failure(e, context.limits());
    }
  }

  /** Reads the object that the parser is at. */
  static void readMembers(JsonParser parser, MemberReader reader) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      reader.read(name, parser);
    }
  }
}
