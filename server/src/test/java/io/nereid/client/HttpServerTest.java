package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.types.StatusCode;
import org.junit.jupiter.api.Test;

/** The contract over HTTP. */
class HttpServerTest extends ServerContract {

  @Override
  String address(NereidServer server) {
    return "http://127.0.0.1:" + server.httpPort();
  }

  @Override
  ServerOptions options(ServerOptions standard) {
    return standard;
  }

  @Test
  void streamsAreNotToBeHad() {
    try (InferenceClient client = InferenceClient.connect("http://localhost:1")) {
      InferenceException failure = assertThrows(InferenceException.class, client::openStream);
      assertEquals(StatusCode.UNIMPLEMENTED, failure.code());
    }
  }
}
