package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract over gRPC, and streams. */
class GrpcServerTest extends ServerContract {

  @Override
  String address(NereidServer server) {
    return "grpc://127.0.0.1:" + server.grpcPort().orElseThrow();
  }

  @Override
  ServerOptions options(ServerOptions standard) {
    return standard.withGrpc(GrpcOptions.DEFAULT);
  }

  private static InferRequest repeat(int id, int... values) {
    return InferRequest.builder("repeat")
        .id(Integer.toString(id))
        .input("IN", Tensor.ofInts(values, values.length))
        .input(
            "DELAY",
            Tensor.of(DataType.UINT32, ByteBuffer.allocate(4 * values.length), values.length))
        .input("WAIT", Tensor.of(DataType.UINT32, ByteBuffer.allocate(4), 1))
        .parameter("triton_enable_empty_final_response", true)
        .build();
  }

  @Test
  void aModelAnswersAsOftenAsItLikes() {
    ServerOptions options =
        options(ServerOptions.DEFAULT)
            .withRepository(
                RepositoryOptions.builder()
                    .repository(Path.of("..", "examples", "models"))
                    .build());
    try (NereidServer server = NereidServer.start(options);
        InferenceClient client = InferenceClient.connect(address(server));
        InferStream stream = client.openStream()) {
      stream.send(repeat(1, 4, 5, 6));
      List<Integer> values = new ArrayList<>();
      boolean last = false;
      while (!last) {
        try (InferResponse response = stream.next()) {
          assertEquals("1", response.id().orElseThrow());
          last = response.isFinal();
          if (!response.outputNames().isEmpty()) {
            values.add(response.output("OUT").toIntArray()[0]);
          }
        }
      }
      assertEquals(List.of(4, 5, 6), values);

      // A model that answers once is served on the same stream, and an error does not end it.
      stream.send(InferRequest.builder("none").id("2").build());
      stream.send(
          InferRequest.builder("identity_fp32")
              .id("3")
              .input("INPUT0", Tensor.ofFloats(new float[] {1.5f}, 1, 1))
              .build());
      InferenceException failure = assertThrows(InferenceException.class, stream::next);
      assertTrue(failure.getMessage().contains("unknown model"), failure::getMessage);
      assertEquals("2", failure.requestId().orElseThrow());
      try (InferResponse response = stream.next()) {
        assertArrayEquals(new float[] {1.5f}, response.output("OUTPUT0").toFloatArray());
      }
      stream.finish();
      assertNull(stream.next());
    }
  }
}
