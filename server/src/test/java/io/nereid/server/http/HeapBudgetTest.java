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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  private static byte[] post(String path, String body) {
    return RawClient.request(path, "", body.getBytes(StandardCharsets.US_ASCII));
  }

  /** Runs a server with an own budget, and checks that requests gave theirs back. */
  private static void serve(HeapBudget budget, Asking asking) throws IOException {
    try (Nereid nereid = Nereid.open(RepositoryOptions.builder().explicit().build())) {
      nereid.load(TestServer.identity("BYTES", DataType.BYTES).build());
      HttpListener listener =
          HttpServer.listen(ServerState.builder(nereid).build(), HttpOptions.DEFAULT, budget);
      asking.ask(listener);
      listener.stop(Duration.ZERO);
      assertEquals(0, budget.takenByRequests());
    }
  }

  private interface Asking {
    void ask(HttpListener listener) throws IOException;
  }

  @Test
  void errorsAreToldWhenItIsUsedUp() throws IOException {
    HeapBudget budget = new HeapBudget(24L * MIB);
    serve(
        budget,
        listener -> {
          HeapShare other = new HeapShare(budget);
          other.take(24 * MIB - (100 << 10)); // enough for the name, but not in an error as well
          String body =
              "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"" + "x".repeat(30_000) + "\"}]}";
          String reply = answer(listener, post("/v2/models/BYTES/infer", body));
          assertTrue(reply.startsWith("HTTP/1.1 400"), reply);
          other.giveBack();
        });
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "/v2/models/BYTES/infer,         `{\"parameters\":{`,      1,    }}",
        "/v2/models/BYTES/generate,      {,                      true, }",
        "/v2/models/BYTES/generate,      `{\"parameters\":{`,      `\"\"`, }}",
        "/v2/repository/models/new/load, `{\"parameters\":{`,      `\"\"`, }}",
        "/v2/trace/setting,              `{\"trace_level\":[`,     ,     ]}"
      })
  void manySmallEntriesCount(String path, String before, String value, String behind)
      throws IOException {
    StringBuilder body = new StringBuilder(before);
    for (int i = 0; i < 200_000; i++) {
      body.append(i == 0 ? "" : ",");
      body.append(value == null ? "\"TIMESTAMPS\"" : "\"file:" + i + "\":" + value);
    }
    serve(
        new HeapBudget(24L * MIB),
        listener -> {
          String reply = answer(listener, post(path, body + behind));
          assertTrue(reply.startsWith("HTTP/1.1 413") && reply.contains("heap memory"), reply);
        });
  }
}
