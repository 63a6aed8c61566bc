package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

/**
 * The ways in which stores differ: their addresses and signatures. Threads that fetch call it at
 * the same time.
 */
interface Dialect {

  /**
   * The address of a page of the list.
   *
   * @param token of the page before it; empty: the first
   */
  URI list(String token);

  /** The address of an object, by its whole name. */
  URI object(String key);

  /** Returns the headers of a request, with those that prove who asks. */
  Map<String, String> sign(String method, URI uri, Map<String, String> headers, Instant now)
      throws IOException;

  /** Called when the store refused a request; true: a second try may do better. */
  default boolean refused(Map<String, String> answer) {
    return false;
  }

  /** Encodes text for a query, or one part of a path. */
  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }

  /** Encodes a name for a path, in which its slashes stay. */
  static String path(String key) {
    return encode(key).replace("%2F", "/");
  }

  /** The host as requests name it, without the port that is usual. */
  static String host(URI uri) {
    int usual = uri.getScheme().equals("https") ? 443 : 80;
    boolean plain = uri.getPort() < 0 || uri.getPort() == usual;
    return plain ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }
}
