package io.nereid.server.http;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Random;

/** Sends frames that carry nothing until it is sent away. */
final class FloodAttacker implements SoakAttacker {

  /** How many times what is documented, to be sure: gRPC has more patience with mistakes. */
  private static final int MOST_TIMES = 11;

  private final String protocol;
  private final int port;
  private final String path;
  private final String[] fields;

  /**
   * For a port that speaks HTTP/2.
   *
   * @param path what may be posted to
   * @param fields of the head, names and values in turns
   */
  FloodAttacker(String protocol, int port, String path, String... fields) {
    this.protocol = protocol;
    this.port = port;
    this.path = path;
    this.fields = fields;
  }

  @Override
  public String name() {
    return "floods of " + protocol;
  }

  @Override
  public void attack(Random random) throws IOException {
    FrameFlood[] all = FrameFlood.values();
    FrameFlood flood = all[random.nextInt(all.length)];
    try (FrameClient client = new FrameClient(port).begin()) {
      for (int i = 0; i < MOST_TIMES * flood.most(); i++) {
        flood.send(client, i, path, fields);
      }
      if (!client.isClosedByServer()) {
        throw new AssertionError(flood + " was put up with");
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError(flood + " was put up with over " + protocol, e);
    } catch (SocketException e) {
      // It was cut off while it sent.
    }
  }
}
