package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.NereidOptions;
import io.nereid.model.DynamicBatching;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.QueuePolicy;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.server.grpc.GrpcFrames;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.GateBackend;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.RawClient;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.metrics.Scrape;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.types.DataType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import tools.jackson.jr.ob.JSON;

/** A whole server to which everything goes wrong that a test wants, and those who look at it. */
final class FailingServer implements AutoCloseable {

  static final String GOOD =
      """
      backend: "identity"
      max_batch_size: 8
      input { name: "IN" data_type: TYPE_FP32 dims: 1 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
      """;

  private static final Duration EXIT = Duration.ofSeconds(10);
  private static final int CONNECTIONS = 2;

  final GateBackend gate = new GateBackend();
  final Path directory;
  final NereidServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Optional<SSLContext> trusting;

  private FailingServer(Path directory, Optional<SSLContext> trusting, ServerOptions options) {
    this.directory = directory;
    this.trusting = trusting;
    server =
        NereidServer.start(
            options.withMetrics(MetricsOptions.DEFAULT.withPort(0)).withExitTimeout(EXIT));
  }

  // ---- Three kinds of it -----------------------------------------------------------------------

  /** A server to whose models all may send, with little memory for tensors. */
  static FailingServer open(Path directory) throws IOException {
    FailingServer failing =
        new FailingServer(
            directory,
            Optional.empty(),
            ServerOptions.DEFAULT
                .withRepository(repository(directory))
                .withRuntime(NereidOptions.builder().poolByteLimit(1 << 20).build())
                .withAllowClientShm(true)
                .withHttp(HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT))
                .withGrpc(GrpcOptions.DEFAULT.withLimits(grpcLimits(Duration.ofMinutes(2), 100))));
    failing.loadModels();
    return failing;
  }

  /** A server that encrypts, and knows two tokens. */
  static FailingServer guarded(Path directory) throws IOException, GeneralSecurityException {
    Identity authority = TestCertificates.authority("ca");
    ServerTlsOptions tls = TestCertificates.server(authority, directory);
    authority.writeCertificate(directory.resolve("ca.pem"));
    Files.writeString(directory.resolve("token"), "all");
    AccessControl access =
        AccessControl.of(
            Restrictions.NONE,
            Optional.of(
                Tokens.open(
                    Files.writeString(directory.resolve("tokens"), "all\nreader metadata\n"))));
    return new FailingServer(
        directory,
        Optional.of(TestCertificates.client(authority, null)),
        ServerOptions.DEFAULT
            .withRepository(repository(directory))
            .withHttp(
                HttpOptions.DEFAULT
                    .withTls(tls)
                    .withAccess(access)
                    .withConsole(ConsoleOptions.DEFAULT))
            .withGrpc(GrpcOptions.DEFAULT.withTls(tls).withAccess(access)));
  }

  /** A server with room for few connections, which have little time. */
  static FailingServer small(Path directory) throws IOException {
    Duration time = Duration.ofSeconds(1);
    HttpLimits usual = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(
            usual.bodyBytes(),
            usual.headBytes(),
            usual.chunkCount(),
            usual.jsonDepth(),
            CONNECTIONS,
            time,
            usual.idleTime());
    return new FailingServer(
        directory,
        Optional.empty(),
        ServerOptions.DEFAULT
            .withRepository(repository(directory))
            .withHttp(HttpOptions.DEFAULT.withLimits(limits).withConsole(ConsoleOptions.DEFAULT))
            .withGrpc(GrpcOptions.DEFAULT.withLimits(grpcLimits(time, CONNECTIONS))));
  }

  private static RepositoryOptions repository(Path directory) throws IOException {
    write(directory, "good", GOOD);
    return RepositoryOptions.builder()
        .repository(directory.resolve("models"))
        .explicit("good")
        .build();
  }

  private static GrpcLimits grpcLimits(Duration time, int connections) {
    GrpcLimits usual = GrpcLimits.DEFAULT;
    return new GrpcLimits(100_000, 0, time, usual.metadataBytes(), usual.callCount(), connections);
  }

  private static Path write(Path directory, String model, String config) throws IOException {
    Path version = Files.createDirectories(directory.resolve("models/" + model + "/1"));
    Files.writeString(version.resolveSibling("config.pbtxt"), config);
    return version;
  }

  /** Writes a model into the repository; the directory of its version. */
  Path write(String model, String config) throws IOException {
    return write(directory, model, config);
  }

  static ModelSpec.Builder model(String name) {
    return ModelSpec.builder(name)
        .maxBatchSize(8)
        .inline(false)
        .input("IN", DataType.FP32, 1)
        .output("OUT", DataType.FP32, 1);
  }

  private void loadModels() {
    QueuePolicy queue = QueuePolicy.DEFAULT.withMaxQueueSize(1).withAllowTimeoutOverride(true);
    load(
        model("gate")
            .backend(gate)
            .maxBatchSize(1)
            .dynamicBatching(DynamicBatching.builder().queuePolicy(queue).build()));
    load(
        model("throws")
            .backend(context ->
                batch -> {
                  throw new IllegalStateException("it is broken");
                }));
    load(
        ModelSpec.builder("chain")
            .maxBatchSize(8)
            .input("IN", DataType.FP32, 1)
            .output("OUT", DataType.FP32, 1)
            .ensemble(
                new Ensemble(
                    List.of(
                        new Ensemble.Step(
                            "throws",
                            OptionalLong.empty(),
                            Map.of("IN", "IN"),
                            Map.of("OUT", "OUT"))))));
    load(
        model("sequences")
            .backend("identity")
            .sequenceBatching(SequenceBatching.direct().withMaxIdle(Duration.ofMillis(20))));
    load(model("isolated").backend("identity").isolation("process"));
    load(
        ModelSpec.builder("wide")
            .backend("identity")
            .input("IN", DataType.FP32, 1, -1)
            .output("OUT", DataType.FP32, 1, -1));
    load(
        model("late")
            .backend("identity")
            .parameter("execute_delay_ms", "20")
            .objective(Objective.p99(Duration.ofMillis(1))));
  }

  private void load(ModelSpec.Builder model) {
    server.nereid().load(model.build());
  }

  // ---- Clients ---------------------------------------------------------------------------------

  RawClient http() throws IOException {
    return trusting.isEmpty()
        ? new RawClient(server.httpPort())
        : new RawClient(encrypted(server.httpPort()));
  }

  FrameClient grpc() throws IOException {
    return trusting.isEmpty()
        ? new FrameClient(grpcPort())
        : new FrameClient(encrypted(grpcPort(), "h2"));
  }

  int grpcPort() {
    return server.grpcPort().orElseThrow();
  }

  /** A connection that encrypts and speaks these protocols. */
  Socket encrypted(int port, String... protocols) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            trusting
                .orElseThrow()
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), port);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    socket.setSSLParameters(parameters);
    return socket;
  }

  /** One request, whose reply has a status. */
  void get(int status, String path, String fields) throws IOException {
    try (RawClient http = http()) {
      http.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n")
          .receive()
          .expect(status);
    }
  }

  void post(int status, String path, String body) throws IOException {
    post(status, path, "", body);
  }

  void post(int status, String path, String fields, String body) throws IOException {
    try (RawClient http = http()) {
      http.post(path, fields, body.replace('\'', '"').getBytes(StandardCharsets.UTF_8))
          .expect(status);
    }
  }

  void infer(int status, String model, String body) throws IOException {
    post(status, "/v2/models/" + model + "/infer", body);
  }

  /** One call, and its end. */
  void call(String path, byte[] message, String... fields) throws IOException {
    try (FrameClient grpc = grpc().begin()) {
      List<String> all = new ArrayList<>(List.of(GrpcFrames.FIELDS));
      all.addAll(List.of(fields));
      grpc.head(1, false, "POST", path, all.toArray(String[]::new));
      grpc.data(1, GrpcFrames.message(message), true).await(1);
    }
  }

  // ---- Those who look --------------------------------------------------------------------------

  private URI metricsUri() {
    return URI.create("http://127.0.0.1:" + server.metricsPort().orElseThrow() + "/metrics");
  }

  Scrape scrape() {
    try {
      HttpRequest request = HttpRequest.newBuilder(metricsUri()).build();
      return Scrape.parse(client.send(request, BodyHandlers.ofString()).body());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The totals that the console's overview has. */
  Map<String, Long> console() throws IOException {
    try (RawClient http = http()) {
      http.send(
          "GET /api/overview/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n");
      String chunk = http.receiveHead().expect(200).fields().isEmpty() ? "" : http.chunk();
      while (!chunk.contains("data: ")) {
        chunk = http.chunk();
      }
      Map<String, Object> event = JSON.std.mapFrom(chunk.substring(chunk.indexOf("data: ") + 6));
      return totals((Map<?, ?>) event.get("server"));
    }
  }

  /** The totals that {@code nereid top} has. */
  Map<String, Long> top() throws IOException {
    CommandLineRun run = new CommandLineRun();
    List<String> arguments = new ArrayList<>(List.of("top", "-n", "1", "-d", "0.1", "--json"));
    arguments.addAll(List.of("--metrics-url", metricsUri().toString(), "-u"));
    arguments.add((trusting.isPresent() ? "https" : "http") + "://localhost:" + server.httpPort());
    if (trusting.isPresent()) {
      arguments.addAll(List.of("--tls-ca", directory.resolve("ca.pem").toString()));
      arguments.addAll(List.of("--token-file", directory.resolve("token").toString()));
    }
    assertEquals(0, run.run(arguments.toArray(String[]::new)), run::err);
    return totals(JSON.std.mapFrom(run.out()));
  }

  private static Map<String, Long> totals(Map<?, ?> object) {
    Map<String, Long> totals = new TreeMap<>();
    for (Object each : (List<?>) object.get("troubles")) {
      Map<?, ?> trouble = (Map<?, ?>) each;
      totals.put(trouble.get("what").toString(), ((Number) trouble.get("total")).longValue());
    }
    return totals;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
