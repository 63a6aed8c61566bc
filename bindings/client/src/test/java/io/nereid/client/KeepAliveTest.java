package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that is there and says nothing any more. */
class KeepAliveTest {

  /** Settings without a value: all that a server has to say before calls. */
  private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

  @Test
  @Tag("slow") // gRPC does not ping before 10 s of silence
  void aServerThatIsSilentIsGivenUp() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ScriptedServer.start(() -> serve(listener));
      ClientOptions options =
          ClientOptions.builder()
              .keepAlive(new ClientOptions.KeepAlive(Duration.ofMillis(1), Duration.ofMillis(100)))
              .noDeadline()
              .retry(RetryPolicy.NONE)
              .build();
      long startNs = System.nanoTime();
      try (InferenceClient client =
          InferenceClient.connect("grpc://127.0.0.1:" + listener.getLocalPort(), options)) {
        InferenceException failure = assertThrows(InferenceException.class, client::serverLive);
        assertEquals(StatusCode.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains("Keepalive"), failure::getMessage);
      }
      assertTrue(System.nanoTime() - startNs >= TimeUnit.SECONDS.toNanos(9));
    }
  }

  /** Reads, and answers nothing. */
  private static void serve(ServerSocket listener) {
    try (Socket socket = listener.accept()) {
      socket.getOutputStream().write(SETTINGS);
      while (socket.getInputStream().read() >= 0) {
        // it is taken, as by a machine that hangs
      }
    } catch (IOException e) {
      // the client has left
    }
  }

  @Test
  void timesArePositive() {
    assertThrows(
        IllegalArgumentException.class,
        () -> new ClientOptions.KeepAlive(Duration.ZERO, Duration.ofSeconds(1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ClientOptions.KeepAlive(Duration.ofSeconds(1), Duration.ZERO));
  }
}
