package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The commands that talk to a running server, and servers that have only a part of the protocol.
 */
class OtherServersTest {

  /** What the smallest server of the protocol answers. */
  private static final Map<String, String> ANSWERS =
      Map.of(
          "/v2",
          "{\"name\":\"other\",\"version\":\"1\",\"extensions\":[]}",
          "/v2/models/m",
          "{\"name\":\"m\",\"platform\":\"other\",\"inputs\":[{\"name\":\"X\",\"datatype\":\"INT32\","
              + "\"shape\":[2]}],\"outputs\":[{\"name\":\"Y\",\"datatype\":\"INT32\",\"shape\":[2]}]}",
          "/v2/models/m/config",
          "{\"name\":\"m\",\"max_batch_size\":0}",
          "/v2/models/m/infer",
          "{\"model_name\":\"m\",\"outputs\":[{\"name\":\"Y\",\"datatype\":\"INT32\",\"shape\":[2],"
              + "\"data\":[5,7]}]}");

  private static final List<List<String>> WHAT_IT_LACKS =
      List.of(
          List.of("models"),
          List.of("stats"),
          List.of("stats", "m"),
          List.of("top", "-n", "1"),
          List.of("load", "m"),
          List.of("unload", "m"),
          List.of("trace"),
          List.of("trace", "rate=1"),
          List.of("logs"),
          List.of("logs", "info=false"));

  private static void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String known = ANSWERS.get(exchange.getRequestURI().getPath());
    byte[] body =
        (known == null ? "<html><body><h1>404 page not found</h1></body></html>" : known)
            .getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(known == null ? 404 : 200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static CommandLineRun run(int code, List<String> arguments, String url) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(List.of("-u", url));
    CommandLineRun run = new CommandLineRun();
    assertEquals(code, run.run(all.toArray(String[]::new)), () -> all + run.out() + run.err());
    return run;
  }

  /** One line that says what is lacking, and where. */
  private static void assertPlain(String error, String where, String why) {
    assertEquals(1, error.lines().count(), error);
    assertTrue(error.startsWith("nereid: expected "), error);
    assertTrue(error.contains(": this server does not have that: " + why), error);
    assertFalse(error.contains("Exception"), error);
    assertTrue(error.contains(where) || error.contains("model"), error);
  }

  @Test
  void overHttp() throws IOException {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext("/", OtherServersTest::answer);
    other.start();
    try {
      String url = "localhost:" + other.getAddress().getPort();
      assertEquals(
          "Y INT32[2]: 5 7\n", run(0, List.of("infer", "m", "--input", "X=1,2"), url).out());
      assertTrue(run(0, List.of("config", "m"), url).out().contains("\"m\""));
      for (List<String> command : WHAT_IT_LACKS) {
        assertPlain(run(1, command, url).err(), url, "HTTP 404, ");
      }
      assertPlain(run(1, List.of("config", "none"), url).err(), url, "HTTP 404, ");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void overGrpc() throws IOException {
    Server other =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .build()
            .start();
    try {
      String url = "grpc://localhost:" + other.getPort();
      for (List<String> command : WHAT_IT_LACKS) {
        assertPlain(run(1, command, url).err(), url, "UNIMPLEMENTED: ");
      }
    } finally {
      other.shutdownNow();
    }
  }
}
