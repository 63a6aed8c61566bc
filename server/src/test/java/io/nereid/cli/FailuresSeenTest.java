package io.nereid.cli;

import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.server.grpc.GrpcFrames;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.RawClient;
import io.nereid.server.memory.Segment;
import io.nereid.server.metrics.Scrape;
import io.nereid.server.metrics.Troubles;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walks kinds of failures: each one is provoked over a real socket, and then seen in a metric, in
 * the overview of the console and in what {@code nereid top} shows.
 */
class FailuresSeenTest {

  private static final int LEAST_KINDS = 40;

  private static final String ONE =
      "{'inputs':[{'name':'IN','datatype':'FP32','shape':[1,1],'data':[1]}]}";
  private static final String INFER = "/v2/models/{model}/infer";

  @TempDir private Path directory;

  private interface Provocation {
    void on(FailingServer server) throws Exception;
  }

  /**
   * A kind of failure.
   *
   * @param metric the metric that grows, with labels between braces as {@code name{label=value}}
   * @param trouble the words that the console and {@code top} have for it
   */
  private record Kind(String name, Provocation provocation, String metric, String trouble) {

    void isSeenOf(FailingServer server) throws Exception {
      Scrape before = server.scrape();
      try {
        provocation.on(server);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(name + ": " + e.getMessage(), e);
      }
      double sum = sum(before);
      long told = told(before);
      await(
          () -> isMore(server.scrape(), sum, told),
          name + ": not in " + metric + ", or no '" + trouble + "'");
    }

    private boolean isMore(Scrape now, double sum, long told) {
      return sum(now) > sum && told(now) > told;
    }

    private double sum(Scrape scrape) {
      int brace = metric.indexOf('{');
      Map<String, String> labels = new HashMap<>();
      if (brace >= 0) {
        for (String label : metric.substring(brace + 1, metric.length() - 1).split(";")) {
          labels.put(label.split("=")[0], label.split("=")[1]);
        }
      }
      double sum = scrape.sum(brace < 0 ? metric : metric.substring(0, brace), labels);
      return Double.isNaN(sum) ? 0 : sum;
    }

    private long told(Scrape scrape) {
      return Troubles.of(scrape).counts().getOrDefault(trouble, 0L);
    }
  }

  /** An answer over HTTP with a status, at a route without the braces of its parameters. */
  private static Kind http(String name, int status, String route, Provocation provocation) {
    return new Kind(
        name,
        provocation,
        "nereid_http_requests_total{status="
            + status
            + (route.isEmpty() ? "}" : ";route=" + route + "}"),
        "HTTP " + status);
  }

  private static Kind infer(String name, int status, String model, String body) {
    return http(name, status, "", server -> server.infer(status, model, body));
  }

  private static Kind grpc(String name, String code, Provocation provocation) {
    return new Kind(
        name, provocation, "nereid_grpc_requests_total{code=" + code + "}", "gRPC " + code);
  }

  private static Kind connection(
      String name, String protocol, String reason, Provocation provocation) {
    return new Kind(
        name,
        provocation,
        "nereid_connection_failures_total{protocol=" + protocol + ";reason=" + reason + "}",
        (protocol.equals("http") ? "HTTP" : "gRPC") + " connection: " + reason);
  }

  private static Kind load(String name, String model, String code, Provocation provocation) {
    return new Kind(
        name,
        provocation,
        "nereid_model_load_failures_total{model=" + model + ";reason=" + code + "}",
        "load: " + code);
  }

  private static void allAreSeen(FailingServer server, List<Kind> kinds) throws IOException {
    assertAll(kinds.stream().map(kind -> (Executable) () -> kind.isSeenOf(server)));
    Map<String, Long> counts = Troubles.of(server.scrape()).counts();
    assertEquals(counts, server.console());
    assertEquals(counts, server.top());
    for (Kind kind : kinds) {
      long same = kinds.stream().filter(other -> other.trouble.equals(kind.trouble)).count();
      assertTrue(counts.get(kind.trouble) >= same, kind + " of " + counts);
    }
  }

  @Test
  void failuresOfRequestsAndModelsAreSeen() throws Exception {
    try (FailingServer server = FailingServer.open(directory)) {
      allAreSeen(server, OF_REQUESTS);
    }
  }

  @Test
  void failuresOfTokensAndEncryptionAreSeen() throws Exception {
    try (FailingServer server = FailingServer.guarded(directory)) {
      allAreSeen(server, OF_ACCESS);
    }
  }

  @Test
  void failuresOfConnectionsAreSeen() throws Exception {
    try (FailingServer server = FailingServer.small(directory)) {
      allAreSeen(server, OF_CONNECTIONS);
    }
  }

  @Test
  void kindsAreMany() {
    List<String> names =
        List.of(OF_REQUESTS, OF_ACCESS, OF_CONNECTIONS).stream()
            .flatMap(List::stream)
            .map(Kind::name)
            .distinct()
            .toList();
    assertTrue(names.size() >= LEAST_KINDS, names::toString);
  }

  // ---- Requests and models ---------------------------------------------------------------------

  private static final List<Kind> OF_REQUESTS =
      List.of(
          infer("wrong datatype", 400, "good", ONE.replace("FP32", "INT8")),
          infer("wrong shape", 400, "good", ONE.replace("[1,1]", "[1]")),
          infer("too few values", 400, "good", ONE.replace("[1,1]", "[2,1]")),
          infer("unknown input", 400, "good", ONE.replace("'IN'", "'X'")),
          infer("missing input", 400, "good", "{'inputs':[]}"),
          infer("unknown output", 400, "good", ONE.replace("}]}", "}],'outputs':[{'name':'X'}]}")),
          infer("bad JSON", 400, "good", "{"),
          infer("unknown model", 404, "none", ONE),
          infer("unknown version", 404, "good/versions/9", ONE),
          http(
              "model unloaded",
              404,
              INFER,
              server -> {
                server.write("spare", FailingServer.GOOD);
                server.post(200, "/v2/repository/models/spare/load", "");
                server.post(200, "/v2/repository/models/spare/unload", "");
                server.infer(404, "spare", ONE);
              }),
          http("unknown path", 404, "unknown", server -> server.get(404, "/nowhere", "")),
          http("wrong method", 405, INFER, server -> server.get(405, "/v2/models/good/infer", "")),
          http("no request line", 400, "-", server -> answers(server, "HELLO\r\n\r\n", 400)),
          http(
              "head too long",
              431,
              "-",
              server -> answers(server, "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\n\r\n", 431)),
          http(
              "body too large",
              413,
              INFER,
              server ->
                  answers(
                      server,
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n",
                      413)),
          http(
              "body that ends early",
              499,
              INFER,
              server -> {
                try (RawClient client = server.http()) {
                  client.send(
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{");
                }
              }),
          http(
              "body that is not compressed as it says",
              400,
              INFER,
              server ->
                  server.post(
                      400, "/v2/models/good/infer", "Content-Encoding: gzip\r\n", "no gzip")),
          http(
              "page of another site",
              403,
              "/v2/repository/models/{model}/load",
              server ->
                  server.post(
                      403,
                      "/v2/repository/models/good/load",
                      "Origin: https://evil.example\r\n",
                      "{}")),
          infer("unknown shared memory", 404, "good", shared("none", 4)),
          http(
              "shared memory out of bounds",
              400,
              INFER,
              server -> {
                try (Segment segment = new Segment(2)) {
                  server.post(
                      200,
                      "/v2/systemsharedmemory/region/r/register",
                      "{'key':'" + segment.key() + "','offset':0,'byte_size':2}");
                  server.infer(400, "good", shared("r", 4));
                }
              }),
          new Kind(
              "no memory for tensors",
              FailuresSeenTest::sendMuch,
              "nereid_pool_failures_total",
              "no memory for a tensor"),
          infer("back end that throws", 500, "throws", ONE),
          infer("step of an ensemble that fails", 500, "chain", ONE),
          infer("sequence without a start", 400, "sequences", sequence("7")),
          new Kind(
              "sequence that went silent",
              server -> server.infer(200, "sequences", sequence("8,'sequence_start':true")),
              "nereid_sequences_idle_ended_total{model=sequences}",
              "sequence without requests"),
          new Kind(
              "full queue",
              FailuresSeenTest::fillQueue,
              "nv_inference_request_failure{model=gate;reason=REJECTED}",
              "HTTP 503"),
          new Kind(
              "client that leaves",
              FailuresSeenTest::leave,
              "nv_inference_request_failure{model=gate;reason=CANCELED}",
              "HTTP 499"),
          new Kind(
              "time in the queue that is up",
              FailuresSeenTest::waitInVain,
              "nv_inference_request_failure{model=gate;reason=REJECTED}",
              "HTTP 503"),
          new Kind(
              "objective that cannot be kept",
              server -> await(() -> isRefused(server, "late"), "nothing was refused"),
              "nereid_objective_refused_total{model=late}",
              "HTTP 503"),
          load(
              "broken model file",
              "corrupt",
              "INVALID_ARGUMENT",
              server -> {
                Path version = server.write("corrupt", "backend: \"onnxruntime\"");
                Files.writeString(version.resolve("model.onnx"), "no model");
                server.post(400, "/v2/repository/models/corrupt/load", "");
              }),
          load(
              "bad configuration",
              "bad",
              "INVALID_ARGUMENT",
              server -> {
                server.write("bad", "max_bach_size: 3");
                server.post(400, "/v2/repository/models/bad/load", "");
              }),
          load(
              "reload that fails",
              "good",
              "INVALID_ARGUMENT",
              server -> {
                server.write("good", "max_bach_size: 3");
                server.post(400, "/v2/repository/models/good/load", "");
                server.infer(200, "good", ONE);
              }),
          load(
              "warm-up that fails",
              "cold",
              "INTERNAL",
              server ->
                  assertThrows(
                      NereidException.class,
                      () ->
                          server
                              .server
                              .nereid()
                              .load(
                                  FailingServer.model("cold")
                                      .backend(context ->
                                          batch -> {
                                            throw new IllegalStateException("it is cold");
                                          })
                                      .warmUp(
                                          new WarmUp(
                                              "cold",
                                              1,
                                              1,
                                              Map.of(
                                                  "IN",
                                                  new WarmUp.Input(
                                                      DataType.FP32,
                                                      List.of(1L),
                                                      new WarmUp.Zero()))))
                                      .build()))),
          grpc(
              "wrong datatype by gRPC", "INVALID_ARGUMENT", server -> call(server, "good", "INT8")),
          grpc("unknown model by gRPC", "NOT_FOUND", server -> call(server, "none", "FP32")),
          grpc(
              "back end that throws by gRPC", "INTERNAL", server -> call(server, "throws", "FP32")),
          grpc(
              "unknown method",
              "UNIMPLEMENTED",
              server -> server.call(GrpcFrames.path("Nothing"), new byte[0])),
          grpc(
              "message that is no protobuf",
              "INVALID_ARGUMENT",
              server -> server.call(GrpcFrames.path("ModelInfer"), new byte[] {10, 99})),
          grpc(
              "message too large",
              "RESOURCE_EXHAUSTED",
              server -> server.call(GrpcFrames.path("ModelInfer"), new byte[200_000])),
          grpc("deadline that passes", "DEADLINE_EXCEEDED", FailuresSeenTest::beLate),
          grpc("call that is cancelled", "CANCELLED", FailuresSeenTest::cancel));

  private static String shared(String region, int bytes) {
    return ONE.replace(
        "'data':[1]",
        "'parameters':{'shared_memory_region':'"
            + region
            + "','shared_memory_byte_size':"
            + bytes
            + "}");
  }

  private static String sequence(String id) {
    return ONE.replace("{'inputs'", "{'parameters':{'sequence_id':" + id + "},'inputs'");
  }

  private static void answers(FailingServer server, String text, int status) throws IOException {
    try (RawClient client = server.http()) {
      client.send(text).receive().expect(status);
    }
  }

  /** Sends more than the whole pool. */
  private static void sendMuch(FailingServer server) throws IOException {
    int count = 500_000;
    server.infer(
        503,
        "wide",
        ONE.replace("[1,1]", "[1," + count + "]")
            .replace("[1]", "[" + "1,".repeat(count - 1) + "1]"));
  }

  private static RawClient ask(FailingServer server, String model) throws IOException {
    byte[] body = ONE.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    return server.http().send(RawClient.request("/v2/models/" + model + "/infer", "", body));
  }

  private static void awaitPending(FailingServer server, String model, long count) {
    await(
        () -> server.server.nereid().model(model).statistics().pendingCount() == count,
        "not " + count + " wait for " + model);
  }

  private static void fillQueue(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      try (RawClient second = ask(server, "gate")) {
        awaitPending(server, "gate", 1);
        server.infer(503, "gate", ONE);
        server.gate.open(2);
        first.receive().expect(200);
        second.receive().expect(200);
      }
    }
    server.gate.close();
  }

  private static void leave(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      try (RawClient second = ask(server, "gate")) {
        awaitPending(server, "gate", 1);
        second.socket().close();
      }
      awaitPending(server, "gate", 0);
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static void waitInVain(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      server.infer(503, "gate", ONE.replace("{'inputs'", "{'parameters':{'timeout':1},'inputs'"));
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static boolean isRefused(FailingServer server, String model) {
    try (RawClient client = ask(server, model)) {
      return client.receive().status() == 503;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] message(String model, String type) {
    return ModelInferRequest.newBuilder()
        .setModelName(model)
        .addInputs(
            InferInputTensor.newBuilder().setName("IN").setDatatype(type).addShape(1).addShape(1))
        .addRawInputContents(ByteString.copyFrom(new byte[4]))
        .build()
        .toByteArray();
  }

  private static void call(FailingServer server, String model, String type) throws IOException {
    server.call(GrpcFrames.path("ModelInfer"), message(model, type));
  }

  private static void beLate(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate");
        FrameClient late = server.grpc().begin()) {
      server.gate.awaitBatch();
      begin(late, "grpc-timeout", "20m");
      while (!late.reply(1).complete && late.reply(1).reset < 0) {
        late.next();
      }
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static void cancel(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate");
        FrameClient client = server.grpc().begin()) {
      server.gate.awaitBatch();
      begin(client, "x", "y");
      awaitPending(server, "gate", 1);
      client.reset(1);
      awaitPending(server, "gate", 0);
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  /** Begins a call to the model at the gate, with one more field. */
  private static void begin(FrameClient client, String name, String value) throws IOException {
    List<String> fields = new ArrayList<>(List.of(GrpcFrames.FIELDS));
    fields.addAll(List.of(name, value));
    client.head(1, false, "POST", GrpcFrames.path("ModelInfer"), fields.toArray(String[]::new));
    client.data(1, GrpcFrames.message(message("gate", "FP32")), true);
  }

  // ---- Tokens and encryption -------------------------------------------------------------------

  private static final String WRONG = "Authorization: Bearer wrong\r\n";
  private static final String READER = "Authorization: Bearer reader\r\n";

  private static final List<Kind> OF_ACCESS =
      List.of(
          http("no token", 401, "/v2", server -> server.get(401, "/v2", "")),
          http("wrong token", 401, "/v2", server -> server.get(401, "/v2", WRONG)),
          http(
              "token that does not grant it",
              403,
              "/v2/models/stats",
              server -> server.get(403, "/v2/models/stats", READER)),
          grpc("no token by gRPC", "UNAUTHENTICATED", server -> call(server, "good", "FP32")),
          grpc(
              "token that does not grant it by gRPC",
              "PERMISSION_DENIED",
              server ->
                  server.call(
                      GrpcFrames.path("ModelInfer"),
                      message("good", "FP32"),
                      "authorization",
                      "Bearer reader")),
          connection(
              "client that does not trust the certificate",
              "http",
              "tls",
              server -> distrust(server.server.httpPort())),
          connection(
              "bytes that are not encrypted",
              "http",
              "tls",
              server -> speak(server.server.httpPort(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
          connection(
              "client that leaves the handshake",
              "http",
              "tls",
              server -> speak(server.server.httpPort(), "\u0016\u0003\u0001")),
          connection(
              "client of gRPC that does not trust the certificate",
              "grpc",
              "tls",
              server -> distrust(server.grpcPort())),
          connection(
              "bytes for gRPC that are not encrypted",
              "grpc",
              "tls",
              server -> speak(server.grpcPort(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
          connection(
              "encrypted client that does not offer HTTP/2",
              "grpc",
              "protocol",
              server -> {
                try (Socket socket = server.encrypted(server.grpcPort())) {
                  socket.getOutputStream().write('x');
                  socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // It was sent away.
                }
              }));

  private static void distrust(int port) throws IOException {
    try (Socket socket =
        SSLSocketFactory.getDefault().createSocket(InetAddress.getLoopbackAddress(), port)) {
      assertThrows(SSLException.class, () -> socket.getOutputStream().write('x'));
    }
  }

  private static void speak(int port, String text) throws IOException {
    try (RawClient client = new RawClient(port)) {
      client.send(text).socket().shutdownOutput();
      client.socket().getInputStream().readAllBytes();
    }
  }

  // ---- Connections -----------------------------------------------------------------------------

  private static final List<Kind> OF_CONNECTIONS =
      List.of(
          connection("slow head", "http", "timeout", server -> answers(server, "GET /v2", 408)),
          http(
              "slow body",
              408,
              INFER,
              server ->
                  answers(
                      server,
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{",
                      408)),
          connection(
              "slow frame of gRPC",
              "grpc",
              "timeout",
              server -> {
                try (FrameClient client = server.grpc().begin()) {
                  client.send(new byte[] {0, 0, 9, FrameClient.HEADERS});
                  assertTrue(client.isClosedByServer());
                }
              }),
          connection(
              "HTTP/1.1 at the port of gRPC",
              "grpc",
              "protocol",
              server -> speak(server.grpcPort(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
          connection(
              "too many connections",
              "http",
              "limit",
              server -> {
                try (RawClient first = server.http();
                    RawClient second = server.http()) {
                  first.get("/v2").expect(200);
                  second.get("/v2").expect(200);
                  try (RawClient third = server.http()) {
                    third.receive().expect(503);
                  }
                }
                await(() -> isOpen(server), "no connection became free");
              }),
          connection(
              "too many connections of gRPC",
              "grpc",
              "limit",
              server -> {
                try (FrameClient first = server.grpc().begin();
                    FrameClient second = server.grpc().begin();
                    FrameClient third = server.grpc().sendPreface(1000)) {
                  third.awaitGoAway();
                  for (FrameClient other : List.of(first, second)) {
                    other.frame(FrameClient.PING, 0, 0, new byte[8]);
                    other.await(FrameClient.PING, FrameClient.ACK);
                  }
                }
              }));

  private static boolean isOpen(FailingServer server) {
    try (RawClient client = server.http()) {
      return client.get("/v2").status() == 200;
    } catch (IOException e) {
      return false;
    }
  }
}
