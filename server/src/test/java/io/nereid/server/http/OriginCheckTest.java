package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that web pages may have a browser make here. */
class OriginCheckTest {

  private static final String LOAD = "/v2/repository/models/none/load";

  private static final String APP = "https://app.example";

  private static final byte[] INFER =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}"
          .getBytes(StandardCharsets.US_ASCII);

  private static final byte[] EMPTY = "{}".getBytes(StandardCharsets.US_ASCII);

  private static TestServer server(String... allowed) {
    return new TestServer(
        Nereid.open(RepositoryOptions.builder().explicit().build()),
        HttpOptions.DEFAULT.withAllowedOrigins(Set.of(allowed)),
        state ->
            state
                .allowClientShm(true)
                .log(
                    Optional.of(
                        LogSettings.install(
                            LogValues.DEFAULT, Optional.of(Path.of("/dev/null"))))));
  }

  private static RawClient.Response post(RawClient client, String path, String fields)
      throws IOException {
    return client
        .send(
            "POST "
                + path
                + " HTTP/1.1\r\n"
                + (fields.contains("Host:") ? "" : "Host: a\r\n")
                + fields
                + "Content-Length: 2\r\n\r\n{}")
        .receive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        LOAD,
        "/v2/repository/models/FP32/unload",
        "/v2/systemsharedmemory/region/r/register",
        "/v2/systemsharedmemory/region/r/unregister",
        "/v2/systemsharedmemory/unregister",
        "/v2/cudasharedmemory/region/r/register",
        "/v2/cudasharedmemory/unregister",
        "/v2/trace/setting",
        "/v2/models/FP32/trace/setting",
        "/v2/logging"
      })
  void changesAreRefusedToPagesOfOtherSites(String path) throws IOException {
    try (TestServer server = server().identity(DataType.FP32);
        RawClient client = server.connect()) {
      String own = "127.0.0.1:" + server.port();
      for (String fields :
          List.of(
              "Sec-Fetch-Site: cross-site\r\n",
              "Sec-Fetch-Site: same-site\r\nOrigin: https://b.example\r\n",
              "sec-fetch-site: cross-site\r\norigin: http://" + own + "\r\nHost: " + own + "\r\n",
              "Origin: https://evil.example\r\n",
              "Origin: null\r\n",
              "Origin: http://127.0.0.1:1\r\nHost: " + own + "\r\n",
              // A name may mean this machine because its owner says so since a moment ago.
              "Origin: http://evil.example:8000\r\nHost: evil.example:8000\r\n")) {
        RawClient.Response refused = post(client, path, fields).expect(403);
        assertTrue(refused.text().contains("--http-allowed-origin "), refused.text());
        assertNull(refused.fields().get("access-control-allow-origin"));
      }
      for (String type : List.of("text/plain", "Text/Plain;charset=UTF-8", "multipart/form-data")) {
        String text = post(client, path, "Content-Type: " + type + "\r\n").expect(403).text();
        assertTrue(text.contains("expected Content-Type: application/json"), text);
      }
      client.get("/v2/models/FP32/ready").expect(200);
    }
  }

  @Test
  void programsAndOwnPagesAreNotRefused() throws IOException {
    try (TestServer server = server();
        RawClient client = server.connect()) {
      for (String host : List.of("127.0.0.1:8000", "localhost:8000", "[::1]:8000")) {
        String fields = "Host: " + host + "\r\nOrigin: http://" + host + "\r\n";
        post(client, "/v2/logging", fields).expect(200);
      }
      for (String fields :
          List.of(
              "",
              "Content-Type: application/x-www-form-urlencoded\r\n", // what curl says of itself
              "Content-Type: application/json\r\n",
              "Sec-Fetch-Site: none\r\n",
              // Behind a proxy with TLS: a name that was made to mean this machine has none.
              "Sec-Fetch-Site: same-origin\r\nOrigin: https://app.example\r\n")) {
        post(client, "/v2/logging", fields).expect(200);
      }
    }
  }

  @Test
  void harmlessRequestsAreAnsweredAndTheBrowserKeepsTheAnswer() throws IOException {
    try (TestServer server = server().identity(DataType.FP32);
        RawClient client = server.connect()) {
      String page = "Sec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n";
      RawClient.Response answer = client.post("/v2/models/FP32/infer", page, INFER).expect(200);
      assertNull(answer.fields().get("access-control-allow-origin"));
      client.post("/v2/repository/index", page, EMPTY).expect(200);
      String head = "GET /v2/logging HTTP/1.1\r\nHost: a\r\n" + page + "\r\n";
      client.send(head).receive().expect(200);
      client.send(head.replace("GET", "OPTIONS")).receive().expect(405);
    }
  }

  @Test
  void anOriginThatIsNamedMayDoEverything() throws IOException {
    try (TestServer server = server(APP, "http://127.0.0.1:3000").identity(DataType.FP32);
        RawClient client = server.connect()) {
      String page = "Sec-Fetch-Site: cross-site\r\nOrigin: " + APP + "\r\n";
      RawClient.Response answer = post(client, "/v2/logging", page).expect(200);
      assertEquals(APP, answer.fields().get("access-control-allow-origin"));
      assertEquals("Origin", answer.fields().get("vary"));
      answer = client.post("/v2/models/FP32/infer", page, INFER).expect(200);
      assertEquals(APP, answer.fields().get("access-control-allow-origin"));
      answer = post(client, LOAD, page).expect(404); // errors can be read, too
      assertEquals(APP, answer.fields().get("access-control-allow-origin"));
      post(client, LOAD, "Origin: https://app.example.evil\r\n").expect(403);
      answer = client.get("/v2").expect(200);
      assertNull(answer.fields().get("access-control-allow-origin"));
      assertEquals("Origin", answer.fields().get("vary"));
    }
  }

  /** A browser asks first, without a token: it cannot have one. */
  @Test
  void browsersThatAskAreTold() throws IOException {
    AccessControl access =
        AccessControl.of(Restrictions.forHttp(List.of("model-repository:k=v")), Optional.empty());
    try (TestServer server =
            new TestServer(HttpOptions.DEFAULT.withAccess(access).withAllowedOrigins(Set.of(APP)));
        RawClient client = server.connect()) {
      String ask =
          "OPTIONS "
              + LOAD
              + " HTTP/1.1\r\nHost: a\r\nAccess-Control-Request-Method: POST\r\n"
              + "Access-Control-Request-Headers: authorization,k\r\nOrigin: ";
      RawClient.Response told = client.send(ask + APP + "\r\n\r\n").receive().expect(200);
      assertEquals("", told.text());
      assertEquals(APP, told.fields().get("access-control-allow-origin"));
      assertEquals("GET, HEAD, POST", told.fields().get("access-control-allow-methods"));
      assertEquals("*, Authorization", told.fields().get("access-control-allow-headers"));
      told = client.send(ask + "https://evil.example\r\n\r\n").receive().expect(403);
      assertNull(told.fields().get("access-control-allow-origin"));
      post(client, LOAD, "Origin: " + APP + "\r\n").expect(403); // the header field is missing
      post(client, LOAD, "k: v\r\nOrigin: " + APP + "\r\n").expect(404);
    }
  }

  @Test
  void originsAreWhatBrowsersSend() {
    for (String origin : List.of("*", "https://a.b:1", "http://[::1]:80", "app://x")) {
      assertTrue(HttpOptions.isOrigin(origin), origin);
    }
    for (String none : List.of("", "null", "a.b", "https://a/", "https://A.b", "https://*.b")) {
      assertFalse(HttpOptions.isOrigin(none), none);
      assertThrows(
          IllegalArgumentException.class,
          () -> HttpOptions.DEFAULT.withAllowedOrigins(Set.of(none)));
    }
  }
}
