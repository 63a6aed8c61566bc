package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.Status.Code;
import io.nereid.DataType;
import io.nereid.NereidOptions;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** Traces of ModelInfer. */
class CallTraceTest {

  @TempDir Path files;

  @Test
  void aCallHasTheTimesOfItsStages() throws Exception {
    Path file = files.resolve("t.json");
    Tracing tracing =
        new Tracing(TraceOptions.builder().timestamps(true).rate(1).file(file.toString()).build());
    try (InferFixture server =
        new InferFixture(NereidOptions.builder(), tracing).identity("m", DataType.FP32)) {
      server.infer(floats("m", 1).setId("the id"));
      server.fails(Code.NOT_FOUND, "is not found", floats("x", 1));
    }
    Map<Object, String> models = new HashMap<>();
    Map<Object, List<String>> times = new HashMap<>();
    for (Object entry : JSON.std.listFrom(Files.readString(file))) {
      Map<?, ?> one = (Map<?, ?>) entry;
      if (one.containsKey("model_name")) {
        models.put(one.get("id"), one.get("model_name") + " " + one.get("request_id"));
      } else {
        for (Object stamp : (List<?>) one.get("timestamps")) {
          times
              .computeIfAbsent(one.get("id"), id -> new ArrayList<>())
              .add((String) ((Map<?, ?>) stamp).get("name"));
        }
      }
    }
    assertEquals("m the id", models.get(1));
    assertEquals(
        List.of(
            "GRPC_WAITREAD_START",
            "GRPC_WAITREAD_END",
            "REQUEST_START",
            "QUEUE_START",
            "COMPUTE_START",
            "COMPUTE_INPUT_END",
            "COMPUTE_OUTPUT_START",
            "COMPUTE_END",
            "REQUEST_END",
            "GRPC_SEND_START",
            "GRPC_SEND_END"),
        times.get(1));
    assertEquals(
        List.of("GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "GRPC_SEND_START", "GRPC_SEND_END"),
        times.get(2));
  }
}
