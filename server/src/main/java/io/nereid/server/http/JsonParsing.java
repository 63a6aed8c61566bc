package io.nereid.server.http;

/** What is said of bodies whose JSON is not what was expected. */
final class JsonParsing {

  private JsonParsing() {}

  static HttpFailure malformed(String member, String found) {
    return HttpFailure.badRequest("Unable to parse '" + member + "': " + found);
  }

  static HttpFailure missing(String member) {
    return malformed(member, "attempt to access non-existing object member '" + member + "'");
  }
}
