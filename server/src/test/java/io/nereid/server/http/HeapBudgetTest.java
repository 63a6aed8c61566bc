package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.seam.HttpListener;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.HeapShare;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The heap that requests hold together. */
class HeapBudgetTest {

  private static final int MIB = 1 << 20;

  @Test
  void requestsShareIt() {
    HeapBudget budget = new HeapBudget(100);
    HeapShare one = new HeapShare(budget);
    HeapShare other = new HeapShare(budget);
    one.take(60);
    HeapShare.Exhausted failure = assertThrows(HeapShare.Exhausted.class, () -> other.take(41));
    assertEquals(Status.UNAVAILABLE, HttpFailure.of(failure).status());
    other.take(40);
    one.giveBack();
    other.take(60);
    failure = assertThrows(HeapShare.Exhausted.class, () -> other.take(1));
    assertEquals(Status.CONTENT_TOO_LARGE, HttpFailure.of(failure).status());
    assertTrue(failure.getMessage().contains("-Xmx"), failure.getMessage());
    other.giveBack();
    assertEquals(0, budget.takenByRequests());
  }

  private static byte[] infer(int length) {
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BYTES\",\"shape\":[1,1],\"data\":[\""
            + "x".repeat(length)
            + "\"]}]}";
    return RawClient.request(
        "/v2/models/BYTES/infer", "", body.getBytes(StandardCharsets.US_ASCII));
  }

  private static String answer(HttpListener listener, byte[] request) throws IOException {
    try (RawClient client = new RawClient(listener.port())) {
      client.send(request).socket().shutdownOutput();
      return client.rest();
    }
  }

  @Test
  void aRequestThatDoesNotFitIsRefusedAndGivesItsPartBack() throws IOException {
    HeapBudget budget = new HeapBudget(24L * MIB);
    try (Nereid nereid = Nereid.open(RepositoryOptions.builder().explicit().build())) {
      nereid.load(TestServer.identity("BYTES", DataType.BYTES).build());
      nereid.load(TestServer.zeros(4 * MIB).build());
      ServerState state = ServerState.builder(nereid).build();
      HttpListener listener = HttpServer.listen(state, HttpOptions.DEFAULT, budget);
      byte[] large = infer(2 * MIB);
      assertTrue(answer(listener, large).startsWith("HTTP/1.1 200"));
      assertEquals(0, budget.takenByRequests());
      HeapShare other = new HeapShare(budget);
      other.take(20 * MIB);
      String refusal = answer(listener, large);
      assertTrue(refusal.startsWith("HTTP/1.1 503"), refusal);
      assertTrue(refusal.contains("Retry-After") && refusal.contains("binary data"), refusal);
      assertTrue(answer(listener, infer(1000)).startsWith("HTTP/1.1 200"));
      other.giveBack();
      assertTrue(answer(listener, infer(20 * MIB)).startsWith("HTTP/1.1 413"));
      String zeros = // four million numbers, each with its comma, in the reply
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BOOL\",\"shape\":[1],\"data\":[true]}]}";
      byte[] request =
          RawClient.request(
              "/v2/models/zeros/infer", "", zeros.getBytes(StandardCharsets.US_ASCII));
      other.take(20 * MIB);
      assertTrue(answer(listener, request).startsWith("HTTP/1.1 503"));
      other.giveBack();
      assertEquals(0, budget.takenByRequests());
      assertEquals(0, nereid.poolStatistics().liveBuffers());
      listener.stop(Duration.ZERO);
    }
  }
}
