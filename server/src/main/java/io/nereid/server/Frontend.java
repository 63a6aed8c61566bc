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
    return new Frontend(protocol, scheme + "://" + authority(address, port));
  }

  /** As gRPC's clients name a server. */
  static Frontend grpc(InetAddress address, int port) {
    return new Frontend("gRPC", authority(address, port));
  }

  private static String authority(InetAddress address, int port) {
    String host = address.getHostAddress();
    return (address instanceof Inet6Address ? "[" + host + "]" : host) + ":" + port;
  }
}
