package io.nereid.server.http;

import java.io.IOException;

/** Where the heads of requests come from, by whatever protocol. */
interface HeadSource {

  /** The next request's head; fails with what is wrong with it. */
  RequestHead parse() throws IOException;

  /** The last request's target, as it was sent. */
  String target();

  /** The last request's protocol and version, such as HTTP/1.1. */
  String protocol();

  /** Whether the last request was of HTTP/1.0. */
  boolean isHttp10();
}
