package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.NereidException;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.metrics.MetricsOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

/** How a server starts. */
class NereidServerTest {

  @Test
  void aPortThatIsTakenEndsTheStart() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      assertFails(
          ServerOptions.builder().http(HttpOptions.builder().port(port).build()).build(), port);
      assertFails(
          ServerOptions.builder().metrics(MetricsOptions.builder().port(port).build()).build(),
          port);
    }
  }

  private static void assertFails(ServerOptions options, int port) {
    NereidException failure =
        assertThrows(NereidException.class, () -> NereidServer.start(options).close());
    assertTrue(failure.getMessage().contains("listen at 127.0.0.1:" + port), failure.getMessage());
  }
}
