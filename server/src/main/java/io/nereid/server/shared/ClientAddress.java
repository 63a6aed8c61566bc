package io.nereid.server.shared;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;

/** The address of a client, for the logs. */
public final class ClientAddress {

  private static final String NONE = "-";

  private ClientAddress() {}

  /** Address and port; a dash when there are none. */
  public static String text(SocketAddress address) {
    if (!(address instanceof InetSocketAddress inet)) {
      return NONE;
    }
    String host = inet.getAddress().getHostAddress();
    // Brackets, as in a URL, so that the last colon precedes the port.
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + inet.getPort();
  }

  /** The address of the other end of a connection. */
  public static String text(SocketChannel connection) {
    try {
      return text(connection.getRemoteAddress());
    } catch (IOException e) {
      return NONE; // the connection was closed
    }
  }
}
