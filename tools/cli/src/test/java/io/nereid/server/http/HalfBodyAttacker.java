package io.nereid.server.http;

import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Begins bodies of JSON over several connections at once, and never finishes them. */
final class HalfBodyAttacker implements SoakAttacker {

  private static final int MOST_CONNECTIONS = 8;
  private static final int MOST_BYTES = 2 << 20;

  private final int port;

  HalfBodyAttacker(int port) {
    this.port = port;
  }

  @Override
  public String name() {
    return "half-sent bodies";
  }

  @Override
  public long pauseMs() {
    return 100;
  }

  @Override
  public void attack(Random random) throws IOException {
    List<RawClient> clients = new ArrayList<>();
    try {
      for (int left = 1 + random.nextInt(MOST_CONNECTIONS); left > 0; left--) {
        RawClient client = new RawClient(port);
        clients.add(client);
        begin(client, random);
      }
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  private static void begin(RawClient client, Random random) throws IOException {
    if (random.nextInt(3) == 0) {
      client.socket().setSoLinger(true, 0); // it goes with a reset
    }
    try {
      client.send(half(random.nextInt(MOST_BYTES)));
    } catch (SocketException e) {
      // Such bodies hold too much already: it was refused before it had ended.
    }
  }

  /** A request whose body has that many bytes of twice as many. */
  private static byte[] half(int bytes) {
    StringBuilder text =
        new StringBuilder("POST /v2/models/identity_fp32/infer HTTP/1.1\r\nHost: x\r\n")
            .append("Content-Length: ")
            .append(2 * bytes + 200)
            .append("\r\n\r\n")
            .append("{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1,")
            .append(bytes)
            .append("],\"data\":[");
    text.repeat("1,", bytes / 2);
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }
}
