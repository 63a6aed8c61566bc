package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.OtlpCollector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Traces that are not sent yet when the server stops. */
class TraceFlushTest {

  @Test
  void stoppingSendsThem() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        HttpClient client = HttpClient.newHttpClient()) {
      ServerOptions options =
          ServerOptions.DEFAULT
              .withRepository(
                  RepositoryOptions.builder()
                      .repository(Path.of("..", "examples", "models"))
                      .explicit("identity_fp32")
                      .build())
              .withTrace(collector.options(Duration.ofHours(1)));
      try (NereidServer server = NereidServer.start(options)) {
        URI url =
            URI.create("http://127.0.0.1:" + server.httpPort() + "/v2/models/identity_fp32/infer");
        HttpRequest request =
            HttpRequest.newBuilder(url)
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1,1],"
                            + "\"data\":[7]}]}"))
                .build();
        for (int i = 0; i < 3; i++) {
          assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode());
        }
        assertEquals(0, collector.spans().size());
        assertTrue(server.stop());
      }
      assertEquals(15, collector.spans().size());
    }
  }
}
