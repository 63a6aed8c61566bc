package io.nereid.server;

import java.net.Inet6Address;
import java.net.InetAddress;

/**
 * A door of a running server.
 *
 * @param protocol what is spoken there, as people call it
 * @param url where it is
 */
public record Frontend(String protocol, String url) {

  static Frontend http(String protocol, String scheme, InetAddress address, int port) {
    String host = address.getHostAddress();
    String authority = address instanceof Inet6Address ? "[" + host + "]" : host;
    return new Frontend(protocol, scheme + "://" + authority + ":" + port);
  }
}
