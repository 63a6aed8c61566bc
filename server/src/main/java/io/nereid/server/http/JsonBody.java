package io.nereid.server.http;

import io.nereid.server.http.JsonReader.Token;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads bodies that are a JSON object, member by member. */
final class JsonBody {

  private JsonBody() {}

  /** What is done with a member of the object; the parser is at its value. */
  interface MemberReader {
    void read(String name, JsonReader parser);
  }

  /** Reads the whole body; an empty one is an empty object. */
  static void read(HttpContext context, RequestBody body, MemberReader reader) throws IOException {
    JsonReader parser = new JsonReader(context.limits().jsonDepth()).reset(body, Long.MAX_VALUE);
    try {
      if (parser.next() == Token.END) {
        return;
      }
      parser.expectOutermost();
      readMembers(parser, reader);
      parser.expectEnd();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Reads the object that the parser is at. */
  static void readMembers(JsonReader parser, MemberReader reader) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      reader.read(name, parser);
    }
  }
}
