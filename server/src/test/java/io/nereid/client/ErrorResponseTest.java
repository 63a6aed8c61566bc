package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelSpec;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors that a backend in Java sends among the responses to a request, as clients see them. */
class ErrorResponseTest extends ServerFixture {

  private static final int RESPONSES = 3;

  @Override
  String address(NereidServer server) {
    return "http://127.0.0.1:" + server.httpPort();
  }

  @Override
  ServerOptions options(ServerOptions standard) {
    return standard.withGrpc(GrpcOptions.DEFAULT);
  }

  /** It has three responses, of which that with the number in IN is an error. */
  @BeforeEach
  void loadModel() {
    server
        .nereid()
        .load(
            ModelSpec.builder("counting")
                .backend(context -> ErrorResponseTest::execute)
                .decoupled(true)
                .input("IN", DataType.INT32, 1)
                .output("OUT", DataType.INT32, 1)
                .build());
  }

  private static void execute(Batch batch) {
    for (int i = 0; i < batch.requestCount(); i++) {
      BatchRequest request = batch.request(i);
      int errorAt = request.input("IN").intAt(0);
      for (int number = 0; number < RESPONSES; number++) {
        if (number == errorAt) {
          request.respondError(StatusCode.NOT_FOUND, "there is no " + number);
        } else {
          request.output("OUT", io.nereid.tensor.Tensor.ofInts(new int[] {number}, 1));
          request.respond();
        }
      }
    }
  }

  private static List<String> expected(int errorAt) {
    List<String> expected = new ArrayList<>();
    for (int number = 0; number < RESPONSES; number++) {
      expected.add(number == errorAt ? "there is no " + number : "" + number);
    }
    return expected;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aStreamOfEventsGoesOnBehindAnError(int errorAt) {
    List<String> seen = new ArrayList<>();
    try (GenerateStream stream = client.generateStream("counting", Map.of("IN", errorAt))) {
      while (seen.size() < RESPONSES) {
        try {
          seen.add(stream.next().get("OUT").toString());
        } catch (InferenceException e) {
          seen.add(e.getMessage());
          boolean first = errorAt == 0; // the only one whose kind is told, by the status
          assertEquals(first ? StatusCode.NOT_FOUND : StatusCode.UNKNOWN, e.code());
          assertEquals(first ? 404 : 0, e.httpStatus().orElse(0));
        }
      }
      assertNull(stream.next());
    }
    assertEquals(expected(errorAt), seen);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aStreamOverGrpcGoesOnBehindAnError(int errorAt) {
    String address = "grpc://127.0.0.1:" + server.grpcPort().orElseThrow();
    List<String> seen = new ArrayList<>();
    InferRequest request =
        InferRequest.builder("counting")
            .id("mine")
            .input("IN", Tensor.ofInts(new int[] {errorAt}, 1))
            .build();
    try (InferenceClient grpc = InferenceClient.connect(address);
        InferStream stream = grpc.openStream()) {
      stream.send(request);
      while (seen.size() < RESPONSES) {
        try (InferResponse response = stream.next()) {
          seen.add("" + response.output("OUT").toIntArray()[0]);
        } catch (InferenceException e) {
          seen.add(e.getMessage());
          assertEquals("mine", e.requestId().orElseThrow());
        }
      }
      stream.finish();
      assertNull(stream.next());
    }
    assertEquals(expected(errorAt), seen);
  }

  @Test
  void anErrorIsTheAnswerWhereOneIsExpected() {
    var failure =
        assertThrows(InferenceException.class, () -> client.generate("counting", Map.of("IN", 0)));
    assertEquals(StatusCode.NOT_FOUND, failure.code());
    assertEquals("there is no 0", failure.getMessage());
  }

  /** What is refused before the model has the request is no response of it. */
  @Test
  void aRequestThatIsRefusedHasNoStream() {
    var failure =
        assertThrows(
            InferenceException.class,
            () -> client.generateStream("counting", Map.of("IN", List.of(1, 2))));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains("IN"), failure.getMessage());
    assertFalse(failure.getMessage().contains("data:"), failure.getMessage());
  }
}
