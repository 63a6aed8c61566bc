package io.nereid.server.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Opens many connections at once, and says nothing over most of them. */
final class ConnectionFloodAttacker implements SoakAttacker {

  private static final int MOST_CONNECTIONS = 300;

  private final String protocol;
  private final int port;

  ConnectionFloodAttacker(String protocol, int port) {
    this.protocol = protocol;
    this.port = port;
  }

  @Override
  public String name() {
    return "floods of connections for " + protocol;
  }

  /** The server has seen off the last flood by then: nobody else is refused for their sake. */
  @Override
  public long pauseMs() {
    return 1000;
  }

  @Override
  public void attack(Random random) throws IOException {
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int left = 1 + random.nextInt(MOST_CONNECTIONS); left > 0; left--) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(socket);
        if (random.nextInt(4) == 0) {
          say(socket, random);
        }
      }
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  /** A few bytes of nothing; the server may have closed the connection by then. */
  private static void say(Socket socket, Random random) throws IOException {
    try {
      byte[] bytes = new byte[1 + random.nextInt(100)];
      random.nextBytes(bytes);
      socket.getOutputStream().write(bytes);
    } catch (SocketException e) {
      // It was one too many.
    }
  }
}
