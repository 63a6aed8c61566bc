package io.nereid.server.http;

/**
 * Request line and header fields, as far as this server acts on them.
 *
 * @param method as it was sent
 * @param route where the path leads
 * @param fields what the header says
 */
record RequestHead(String method, Route route, HeaderFields fields) {

  /** {@link HeaderFields#inferenceHeaderLength} when the field is absent. */
  static final long ABSENT = -1;

  boolean isHeadMethod() {
    return method.equals("HEAD");
  }
}
