package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two models whose executions share a resource, seen by their clients. */
class SharedResourcesHttpTest {

  private static final byte[] BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2]}]}"
          .getBytes(StandardCharsets.US_ASCII);

  private static ModelSpec.Builder model(String name, GateBackend gate) {
    InstanceGroup group =
        new InstanceGroup(
            "",
            InstanceGroup.Kind.CPU,
            1,
            List.of(),
            List.of(),
            new InstanceGroup.RateLimiter(List.of(new InstanceGroup.Resource("R1", true, 1)), 1),
            "");
    return ModelSpec.builder(name)
        .backend(gate)
        .instances(group)
        .inline(false)
        .input("IN", DataType.FP32, 2)
        .output("OUT", DataType.FP32, 2);
  }

  private static byte[] infer(String model) {
    return RawClient.request("/v2/models/" + model + "/infer", "", BODY);
  }

  private static String statistics(TestServer server, String model) throws Exception {
    try (RawClient client = server.connect()) {
      String get = "GET /v2/models/" + model + "/stats HTTP/1.1\r\nHost: a\r\n\r\n";
      client.send(get.getBytes(StandardCharsets.US_ASCII));
      return client.receive().expect(200).text();
    }
  }

  @Test
  void oneExecutesAndTheOtherSaysWhatItWaitsFor() throws Exception {
    GateBackend first = new GateBackend();
    GateBackend second = new GateBackend();
    Nereid nereid = Nereid.create(NereidOptions.builder().rateLimit(true).build());
    try (TestServer server = new TestServer(nereid, HttpLimits.DEFAULT);
        RawClient one = server.connect();
        RawClient two = server.connect();
        RawClient gone = server.connect()) {
      server.load(model("a", first)).load(model("b", second));
      one.send(infer("a"));
      first.awaitBatch();
      assertFalse(statistics(server, "a").contains("waits"));
      two.send(infer("b"));
      TestServer.await(
          () -> server.nereid().model("b").instanceStatistics().getFirst().awaited().isPresent(),
          "it does not wait");
      String waiting = statistics(server, "b");
      assertTrue(
          waiting.contains(
              "\"instances\":[{\"state\":\"waits for R1, 0 of 1 free, 1 needed\",\"waits\":1}]"),
          waiting);
      gone.send(infer("b"));
      TestServer.await(() -> server.statistics("b").pendingCount() == 2, "nothing waits");
      gone.hangUp();
      TestServer.await(() -> server.statistics("b").failCancelled() == 1, "it stays");
      first.open(1);
      one.receive().expect(200);
      second.awaitBatch();
      second.open(1);
      two.receive().expect(200);
      assertEquals(1, server.statistics("b").success().count());
      assertFalse(statistics(server, "b").contains("waits"));
    }
  }
}
