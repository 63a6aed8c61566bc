package io.nereid.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogFormat;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks that were published about Triton do nothing here; docs/security.md lists them. */
class KnownAttacksTest {

  private static final String CONFIG =
      "backend: \"identity\"\nmax_batch_size: 8\n"
          + "input { name: \"IN\" data_type: TYPE_FP32 dims: -1 }\n"
          + "output { name: \"OUT\" data_type: TYPE_FP32 dims: -1 }\n";

  private static final String TOKEN = "operator-0123456789abcdef";

  /** A row of the table of attacks: its first column, and the test in its last. */
  private static final Pattern ROW =
      Pattern.compile("\\| ([^|]*CVE-[^|]*) \\|.*\\| `(\\w+)\\.(\\w+)` \\|");

  @TempDir private Path directory;

  private Path logFile;
  private Path accessFile;
  private LogSettings log;
  private NereidServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    Path model = Files.createDirectories(directory.resolve("models/m/1")).getParent();
    Files.writeString(model.resolve("config.pbtxt"), CONFIG);
    logFile = directory.resolve("log");
    accessFile = directory.resolve("access");
    log =
        LogSettings.install(
            new LogValues(true, true, true, 0, LogFormat.DEFAULT), Optional.of(logFile));
    start(HttpOptions.DEFAULT);
  }

  private void start(HttpOptions http) throws IOException {
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(
                    RepositoryOptions.builder()
                        .repository(directory.resolve("models"))
                        .explicit("m")
                        .build())
                .withHttp(http)
                .withAllowClientShm(true)
                .withLog(log)
                .withAccessLog(AccessLog.toFile(accessFile, log)));
    client = new RawClient(server.httpPort());
  }

  @AfterEach
  void stop() throws IOException {
    stopServer();
    log.close();
  }

  private void stopServer() throws IOException {
    client.close();
    server.close();
  }

  /** The server must have refused, and serve on. */
  private void refused(RawClient.Response response) throws Exception {
    int status = response.status();
    assertTrue(status >= 400 && status != 500, status + " " + response.text());
    works();
  }

  private void works() throws Exception {
    try (RawClient other = new RawClient(server.httpPort())) {
      String body = input("[1,1]", "\"data\":[7]");
      String fields = "Authorization: Bearer " + TOKEN + "\r\n";
      String answer =
          other.post("/v2/models/m/infer", fields, body.getBytes(US_ASCII)).expect(200).text();
      assertTrue(answer.contains("[7.0]"), answer);
    }
  }

  private static String input(String shape, String data) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":"
        + shape
        + ","
        + data
        + "}]}";
  }

  /** Sends on a connection of its own, as a refusal may end it. */
  private RawClient.Response infer(String body) throws IOException {
    try (RawClient other = new RawClient(server.httpPort())) {
      return other.post("/v2/models/m/infer", body);
    }
  }

  /** All that is below the directory, but for the logs. */
  private Set<String> files() throws IOException {
    try (Stream<Path> found = Files.walk(directory)) {
      return found
          .filter(file -> !file.equals(logFile) && !file.equals(accessFile))
          .map(Path::toString)
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @Test
  void filesOfLogsAndTracesAreNotSetOverTheNetwork() throws Exception {
    Set<String> before = files();
    String file = directory.resolve("bashrc").toString();
    refused(client.post("/v2/logging", "{\"log_file\":\"" + file + "\"}"));
    refused(client.post("/v2/trace/setting", "{\"trace_file\":\"" + file + "\"}"));
    refused(client.post("/v2/models/m/trace/setting", "{\"trace_file\":\"" + file + "\"}"));
    client.get("/v2/logging/$(touch%20x)").expect(404);
    assertEquals(before, files());
  }

  @Test
  void requestsForgeNoLinesOfLogs() throws Exception {
    client.get("/v2/models/a%0A2026-01-01T00:00:00.000Z%20INFO%20forged").expect(404);
    client.post("/v2/repository/models/a%0D%0Aforged/load", "");
    infer("{\"id\":\"a\\nforged\",\"inputs\":[]}");
    works();
    stopServer();
    start(HttpOptions.DEFAULT);
    for (Path file : List.of(logFile, accessFile)) {
      for (String line : Files.readAllLines(file)) {
        assertTrue(line.startsWith("20"), line);
        assertFalse(line.matches("\\S+ INFO forged.*"), line);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "18446744073709551584",
        "9223372036854775807",
        "-32",
        "4294967296",
        "1e19",
        "\"18446744073709551584\""
      })
  void offsetsIntoSharedMemoryStayInside(String offset) throws Exception {
    String key = "/nereid-attack-" + ProcessHandle.current().pid();
    Path segment = Files.write(Path.of("/dev/shm" + key), new byte[64]);
    try {
      String register = "/v2/systemsharedmemory/region/r/register";
      refused(
          client.post(
              register, "{\"key\":\"" + key + "\",\"offset\":" + offset + ",\"byte_size\":64}"));
      refused(
          client.post(
              register, "{\"key\":\"" + key + "\",\"offset\":0,\"byte_size\":" + offset + "}"));
      client.post(register, "{\"key\":\"" + key + "\",\"byte_size\":64}").expect(200);
      String place =
          "\"parameters\":{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":4,"
              + "\"shared_memory_offset\":"
              + offset
              + "}";
      refused(infer(input("[1,1]", place)));
      refused(
          infer(
              input("[1,1]", "\"data\":[1]").replaceFirst("}$", "")
                  + ",\"outputs\":[{\"name\":\"OUT\","
                  + place
                  + "}]}"));
      assertEquals(64, Files.size(segment));
    } finally {
      Files.delete(segment);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "..%2F..%2Fetc",
        "..%2Fmodels%2Fm",
        "%2Fetc%2Fpasswd",
        "..",
        "m%2F..%2Fm",
        "m%00",
        ".%2Fm",
        "x;touch%20y",
        "$(touch%20y)",
        "%60touch%20y%60"
      })
  void namesOfModelsLeadNowhereElse(String name) throws Exception {
    Set<String> before = files();
    refused(client.post("/v2/repository/models/" + name + "/load", ""));
    String config =
        "{\"parameters\":{\"config\":\"{\\\"backend\\\":\\\"identity\\\"}\",\"file:1/a\":\"AAAA\"}}";
    refused(client.post("/v2/repository/models/" + name + "/load", config));
    assertEquals(before, files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../escaped",
        "1/../../escaped",
        "/tmp/nereid-escaped",
        "1/../../../escaped",
        "..",
        "",
        "1/"
      })
  void filesOfALoadStayInTheirDirectory(String path) throws Exception {
    Set<String> before = files();
    refused(
        client.post(
            "/v2/repository/models/new/load",
            "{\"parameters\":{\"config\":\"{\\\"backend\\\":\\\"identity\\\"}\",\"file:"
                + path
                + "\":\"AAAA\"}}"));
    assertEquals(before, files());
    assertFalse(Files.exists(Path.of("/tmp/nereid-escaped")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"backend\":\"../../tmp/evil\"",
        "\"backend\":\"onnxruntime\",\"default_model_filename\":\"../../../../etc/passwd\"",
        "\"backend\":\"onnxruntime\",\"default_model_filename\":\"/etc/passwd\"",
        "\"backend\":\"identity\",\"max_batch_size\":-2147483649",
        "\"backend\":\"identity\",\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\","
            + "\"dims\":[9223372036854775807,9223372036854775807]}]",
        "\"backend\":\"identity\",\"instance_group\":[{\"count\":2147483647}]",
        "\"backend\":\"identity\",\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\","
            + "\"dims\":[1],\"reshape\":{\"shape\":[0]}}]"
      })
  void configurationsOfALoadReadNothingAndBreakNothing(String members) throws Exception {
    String config = ("{" + members + "}").replace("\"", "\\\"");
    RawClient.Response response =
        client.post(
            "/v2/repository/models/new/load",
            "{\"parameters\":{\"config\":\"" + config + "\",\"file:1/model.onnx\":\"AAAA\"}}");
    refused(response);
    assertFalse(response.text().contains("root:"), response.text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[4294967296,4294967296]",
        "[9223372036854775807,2]",
        "[2,9223372036854775807]",
        "[-1,1]",
        "[1,-9223372036854775808]",
        "[18446744073709551617,1]",
        "[1.5,1]",
        "[1e300,1]",
        "[0,4611686018427387904]",
        "[8,536870912]"
      })
  void sizesOfTensorsDoNotOverflow(String shape) throws Exception {
    refused(infer(input(shape, "\"data\":[1]")));
    refused(infer(input(shape, "\"parameters\":{\"binary_data_size\":4}")));
    for (String size : List.of("9223372036854775807", "18446744073709551615", "-4")) {
      refused(infer(input("[1,1]", "\"parameters\":{\"binary_data_size\":" + size + "}")));
    }
  }

  @Test
  void manyOutputsAreNotAllocated() throws Exception {
    String outputs = "{\"name\":\"OUT\"},".repeat(200_000);
    refused(
        infer(
            input("[1,1]", "\"data\":[1]").replaceFirst("}$", "")
                + ",\"outputs\":["
                + outputs.substring(0, outputs.length() - 1)
                + "]}"));
    refused(
        infer(
            input("[1,1]", "\"data\":[1]").replaceFirst("}$", "")
                + ",\"outputs\":[{\"name\":\"OUT\",\"parameters\":"
                + "{\"classification\":9223372036854775807}},{\"name\":\"OUT\"}]}"));
  }

  @Test
  void nestedJsonDoesNotOverflowTheStack() throws Exception {
    int deep = 200_000;
    String nested = "[".repeat(deep) + "]".repeat(deep);
    refused(infer("{\"unknown\":" + nested + "," + input("[1,1]", "\"data\":[1]").substring(1)));
    refused(infer(input("[1,1]", "\"data\":" + nested)));
    refused(infer("{\"parameters\":" + "{\"a\":".repeat(deep)));
    refused(client.post("/v2/repository/index", nested));
  }

  /** Each chunk cost Triton a piece of its stack. */
  @Test
  void smallChunksDoNotOverflowTheStack() throws Exception {
    String chunks = "1\r\n \r\n".repeat(HttpLimits.DEFAULT.chunkCount() + 1);
    try (RawClient other = new RawClient(server.httpPort())) {
      refused(
          other
              .send(
                  "POST /v2/models/m/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                      + chunks)
              .receive());
    } catch (SocketException e) {
      works(); // it was closed before all was sent
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Inference-Header-Content-Length: -1",
        "Inference-Header-Content-Length: 18446744073709551616",
        "Inference-Header-Content-Length: 999999",
        "Inference-Header-Content-Length: 1e1",
        "Inference-Header-Content-Length: ",
        "Content-Encoding: gzip, gzip, gzip",
        "Content-Encoding: \u0001",
        "traceparent: 00-zz-zz-zz",
        "Host: a\r\nHost: b",
        "Transfer-Encoding: chunked, chunked"
      })
  void wrongHeadersAreTold(String field) throws Exception {
    byte[] body = input("[1,1]", "\"data\":[1]").getBytes(US_ASCII);
    try (RawClient other = new RawClient(server.httpPort())) {
      int status = other.post("/v2/models/m/infer", field + "\r\n", body).status();
      assertTrue(status != 500, field + ": " + status);
    }
    works();
  }

  @Test
  void payloadsThatAreTooLargeAreRefusedUnread() throws Exception {
    for (String length : List.of("68719476736", "9223372036854775807", "18446744073709551616")) {
      try (RawClient other = new RawClient(server.httpPort())) {
        refused(
            other
                .send(
                    "POST /v2/models/m/infer HTTP/1.1\r\nHost: a\r\nContent-Length: "
                        + length
                        + "\r\n\r\n{")
                .receive());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v2/models",
        "GET //v2/models",
        "GET /./v2/models",
        "GET /v2/health/../models",
        "GET /v2/health/live/../../models",
        "GET /v2/health/%2e%2e/models",
        "GET /v2/health/live;/../../models",
        "GET /v2%2Fmodels",
        "GET /V2/models",
        "GET /v2/models/",
        "GET /v2/models?/v2/health/live",
        "GET /v2/models#/v2/health/live",
        "GET http://a/v2/models",
        "GET http://a/v2/health/live/../../models",
        "HEAD /v2/models",
        "OPTIONS /v2/models",
        "GET /v2/models/m/config",
        "GET /v2/models/m/versions/1/config",
        "POST /v2/repository/index",
        "POST /v2/repository/models/m/unload",
        "GET /api/models/m",
        "GET /api/models/m/configuration",
        "POST /api/../v2/repository/models/m/unload",
        "POST /v1/embeddings"
      })
  void noOtherPathPassesTheTokens(String request) throws Exception {
    stopServer();
    Path tokens = Files.writeString(directory.resolve("tokens"), TOKEN + "\n");
    start(
        HttpOptions.DEFAULT
            .withConsole(ConsoleOptions.DEFAULT)
            .withAccess(AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(tokens)))));
    for (String field :
        List.of(
            "",
            "X-Original-URL: /v2/health/live\r\n",
            "X-HTTP-Method-Override: GET\r\n",
            "Authorization: Bearer \r\n",
            "Authorization: Bearer x\r\nAuthorization: Bearer " + TOKEN + "x\r\n")) {
      try (RawClient other = new RawClient(server.httpPort())) {
        other.send(request + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n" + field + "\r\n");
        RawClient.Response response =
            request.startsWith("HEAD") ? other.receiveHead() : other.receive();
        assertTrue(response.status() >= 400, response.status() + " " + response.text());
      }
    }
    works();
  }

  @Test
  void eachAttackOfTheDocumentHasItsTest() throws IOException {
    Matcher row = ROW.matcher(Files.readString(Path.of("..", "..", "docs", "security.md")));
    int rows = 0;
    while (row.find()) {
      String file = row.group(2) + ".java";
      String method = "void " + row.group(3) + "(";
      try (Stream<Path> server = Files.walk(Path.of("..", "..", "server", "src", "test", "java"));
          Stream<Path> own = Files.walk(Path.of("src", "test", "java"))) {
        Path source =
            Stream.concat(server, own)
                .filter(path -> path.endsWith(file))
                .findFirst()
                .orElseThrow(() -> new AssertionError(row.group()));
        assertTrue(Files.readString(source).contains(method), row.group());
      }
      rows++;
    }
    assertTrue(rows >= 15, rows + " rows");
  }
}
