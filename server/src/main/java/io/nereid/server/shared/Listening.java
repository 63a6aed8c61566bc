package io.nereid.server.shared;

import io.helidon.webserver.WebServer;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.net.InetAddress;

/** Opens ports. */
public final class Listening {

  private Listening() {}

  /** Starts a server. Helidon only logs when its port is not to be had, and goes on without it. */
  public static void start(WebServer server, InetAddress address, int port) {
    server.start();
    if (!server.isRunning()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "expected to listen at "
              + address.getHostAddress()
              + ":"
              + port
              + ", got nothing: is the port in use, or the address of another machine?");
    }
  }
}
