package io.nereid.server.http;

import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.core.json.JsonWriteFeature;

/** How bodies are read as JSON, and what is said of those that are none. */
final class JsonParsing {

  private JsonParsing() {}

  static JsonFactory factory(HttpLimits limits) {
    return JsonFactory.builder()
        .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
        .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS) // data that is set aside is read again
        .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
        .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
        .streamReadConstraints(
            StreamReadConstraints.builder().maxNestingDepth(limits.jsonDepth()).build())
        .build();
  }

  /** What the client is told of a body that cannot be parsed. */
  static HttpFailure failure(JacksonException e, HttpLimits limits) throws IOException {
    if (e instanceof JacksonIOException && e.getCause() instanceof IOException cause) {
      throw cause; // the connection is at fault, not the text
    }
    if (e instanceof StreamConstraintsException && e.getOriginalMessage().contains("nesting")) {
      return HttpFailure.badRequest(
          "JSON nesting depth exceeds maximum allowed limit (" + limits.jsonDepth() + ")");
    }
    long offset = e.getLocation() == null ? -1 : e.getLocation().getByteOffset();
    String message = e.getOriginalMessage();
    int source = message.indexOf(" (start marker at"); // a place in terms of Jackson's buffers
    return HttpFailure.badRequest(
        "failed to parse the request JSON buffer: "
            + (source < 0 ? message : message.substring(0, source))
            + (offset < 0 ? "" : " at " + offset));
  }

  static HttpFailure malformed(String member, String found) {
    return HttpFailure.badRequest("Unable to parse '" + member + "': " + found);
  }

  static HttpFailure missing(String member) {
    return malformed(member, "attempt to access non-existing object member '" + member + "'");
  }

  /** The string that the parser is at. */
  static String string(JsonParser parser, String member) {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw malformed(member, "attempt to access JSON non-string as string");
    }
    return parser.getString();
  }

  /** The boolean that the parser is at. */
  static boolean bool(JsonParser parser, String member) {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw malformed(member, "attempt to access JSON non-boolean as boolean");
    };
  }

  /** The non-negative number that the parser is at. */
  static long unsigned(JsonParser parser, String member) {
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      long value = parser.getLongValue();
      if (value >= 0) {
        return value;
      }
    }
    throw malformed(member, "attempt to access JSON non-unsigned-integer as unsigned-integer");
  }

  static void expectObject(JsonParser parser, String member) {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw malformed(member, "attempt to access JSON non-object as object");
    }
  }

  static void expectArray(JsonParser parser, String member) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw malformed(member, "attempt to access JSON non-array as array");
    }
  }
}
