package io.nereid.cli;

import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** The commands that talk to a running server, over HTTP and gRPC. */
class RemoteCommandsTest {

  private static final List<String> MODELS = List.of("digits", "identity_fp32", "repeat", "simple");

  @TempDir private Path directory;

  private final LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty());
  private NereidServer server = start(AccessControl.OPEN);
  private CommandLineRun last;

  private NereidServer start(AccessControl access) {
    return start(HttpOptions.DEFAULT.withAccess(access), access, MetricsOptions.DEFAULT);
  }

  private NereidServer start(HttpOptions http, AccessControl access, MetricsOptions metrics) {
    RepositoryOptions.Builder models =
        RepositoryOptions.builder().repository(Path.of("..", "..", "examples", "models"));
    MODELS.forEach(models::explicit);
    return NereidServer.start(
        ServerOptions.DEFAULT
            .withHttp(http)
            .withGrpc(GrpcOptions.DEFAULT.withAccess(access))
            .withMetrics(metrics)
            .withLog(log)
            .withRepository(models.build()));
  }

  @AfterEach
  void close() {
    server.close();
    log.close();
  }

  private String url(String protocol) {
    return switch (protocol) {
      case "http" -> "localhost:" + server.httpPort();
      case "https" -> "https://localhost:" + server.httpPort();
      default -> "grpc://localhost:" + server.grpcPort().orElseThrow();
    };
  }

  private int run(String protocol, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("-u", url(protocol)));
    last = new CommandLineRun();
    return last.run(all.toArray(String[]::new));
  }

  /** What is printed by a command that has to succeed. */
  private String printed(String protocol, String... arguments) {
    int code = run(protocol, arguments);
    assertEquals(0, code, last::err);
    return last.out();
  }

  /** Runs a command until its output is as expected: {@code top} may give metrics up. */
  private String printedOnce(Predicate<String> expected, String protocol, String... arguments) {
    await(() -> expected.test(printed(protocol, arguments)), "it was never printed as expected");
    return last.out();
  }

  private String failure(String protocol, int code, String... arguments) {
    assertEquals(code, run(protocol, arguments), last::out);
    return last.err();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void modelsAreListedAsTheServerHasThem(String protocol) throws IOException {
    String table = printed(protocol, "models");
    assertTrue(table.contains("digits"), table);
    assertTrue(table.contains("READY"), table);
    assertTrue(table.contains("INPUT0 INT32[16], INPUT1 INT32[16]"), table);
    List<Object> all = JSON.std.listFrom(printed(protocol, "models", "--json"));
    Map<?, ?> simple =
        all.stream()
            .map(each -> (Map<?, ?>) each)
            .filter(each -> each.get("name").equals("simple"))
            .findFirst()
            .orElseThrow();
    assertEquals("READY", simple.get("state"));
    assertEquals(8, simple.get("max_batch_size"));
    String wrong = failure(protocol, 2, "models", "../../examples/models");
    assertTrue(wrong.contains("expected one"), wrong);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aModelAnswers(String protocol) throws IOException {
    String ones = String.join(",", Collections.nCopies(16, "1"));
    String[] request = {
      "infer", "simple", "--input", "INPUT0=" + ones, "--input", "INPUT1=" + ones
    };
    String text = printed(protocol, request);
    assertTrue(text.contains("OUTPUT0 INT32[1,16]: 2 2"), text);
    assertTrue(text.contains("OUTPUT1 INT32[1,16]: 0 0"), text);
    Map<String, Object> reply =
        JSON.std.mapFrom(printed(protocol, with(request, "--json", "--output", "OUTPUT1")));
    assertEquals("simple", reply.get("model_name"));
    assertEquals(1, ((List<?>) reply.get("outputs")).size());
    assertTrue(failure(protocol, 2, "infer", "simple", "--input", "INPUT7=1").contains("INPUT0"));
    String unknown = failure(protocol, 1, "infer", "simpel", "--input", "INPUT0=1");
    assertTrue(unknown.contains("simpel"), unknown);
    assertTrue(unknown.contains("did you mean simple?"), unknown);
    String random = printed(protocol, "infer", "simple", "--random");
    assertTrue(random.contains("OUTPUT0 INT32[1,16]: "), random);
    String rows = printed(protocol, "infer", "identity_fp32", "--random", "--shape", "INPUT0=3");
    assertTrue(rows.contains("FP32[1,3]: 0."), rows);
    assertTrue(failure(protocol, 2, with(request, "--repository", "x")).contains("expected one"));
  }

  private static String[] with(String[] arguments, String... more) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  void aModelWithManyAnswersStreams() {
    String[] request = {
      "infer", "repeat", "--input", "IN=7,-8", "--input", "DELAY=0,0", "--input", "WAIT=0"
    };
    String text = printed("grpc", request);
    assertEquals("OUT INT32[1]: 7\nIDX UINT32[1]: 0\nOUT INT32[1]: -8\nIDX UINT32[1]: 1\n", text);
    assertTrue(failure("http", 1, request).contains("expected -i grpc"), last.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void requestsAreCounted(String protocol) throws IOException {
    for (int i = 0; i < 3; i++) {
      printed(protocol, "infer", "identity_fp32", "--input", "INPUT0=1,2");
    }
    Map<?, ?> all =
        (Map<?, ?>)
            JSON.std.listFrom(printed(protocol, "stats", "identity_fp32", "--json")).getFirst();
    assertEquals(3, all.get("requests"));
    assertEquals(0, all.get("failures"));
    assertTrue(printed(protocol, "stats").contains("identity_fp32"));
    assertTrue(failure(protocol, 1, "stats", "none").contains("none"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void topLeadsWithModelsThatAreNotLoaded(String protocol) throws IOException {
    server.close();
    Path broken = Files.createDirectories(directory.resolve("models/broken/1")).getParent();
    Files.writeString(broken.resolve("config.pbtxt"), "backend: \"nothing\"");
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withHttp(HttpOptions.DEFAULT)
                .withGrpc(GrpcOptions.DEFAULT)
                .withExitOnError(false)
                .withRepository(
                    RepositoryOptions.builder().repository(broken.getParent()).build()));
    String text = printed(protocol, "top", "--count", "1", "--delay", "0.1");
    assertTrue(text.contains("0 models, 1 not loaded, "), text);
    assertTrue(text.contains("failed: broken 1: "), text);
    String json = printed(protocol, "top", "-n", "1", "-d", "0.1", "--json");
    assertEquals(1, ((List<?>) JSON.std.mapFrom(json).get("failed")).size(), json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void topShowsWhatHappensInBetween(String protocol) throws Exception {
    String text = printed(protocol, "top", "--count", "2", "--delay", "0.1");
    assertEquals(2, text.lines().filter(line -> line.startsWith("nereid top, ")).count(), text);
    assertEquals(2, text.lines().filter(line -> line.startsWith("MODEL ")).count(), text);
    assertTrue(text.contains("4 models"), text);
    AtomicBoolean enough = new AtomicBoolean();
    Thread load = Thread.ofVirtual().start(() -> askUntil(enough));
    long requests = 0;
    for (int looks = 0; requests == 0 && looks < 100; looks++) {
      requests = requestsSeen(printed(protocol, "top", "-n", "1", "-d", "0.1", "--json"));
    }
    enough.set(true);
    load.join();
    assertTrue(requests > 0, "nothing was seen of the requests");
    assertEquals(0, requestsSeen(printed(protocol, "top", "-n", "1", "-d", "0.1", "--json")));
    assertTrue(failure(protocol, 2, "top", "--delay", "0").contains("--delay from 0.1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void topShowsWhatOnlyMetricsTell(String protocol) throws Exception {
    String where = "http://localhost:" + server.metricsPort().orElseThrow() + "/metrics";
    String[] top = {"top", "-n", "1", "-d", "0.1", "--sort", "p99", "--metrics-url", where};
    AtomicBoolean enough = new AtomicBoolean();
    Thread load = Thread.ofVirtual().start(() -> askUntil(enough));
    Map<?, ?> busy = Map.of();
    for (int looks = 0; busy.get("p99_ms") == null && looks < 100; looks++) {
      busy = identity(printed(protocol, with(top, "--json")));
    }
    enough.set(true);
    load.join();
    assertTrue(((Number) busy.get("p99_ms")).doubleValue() > 0, busy::toString);
    assertEquals(Set.of("idle"), ((Map<?, ?>) busy.get("batch_ends")).keySet());
    Map<?, ?> idle =
        identity(
            printedOnce(look -> look.contains("\"instances\":"), protocol, with(top, "--json")));
    assertEquals(0.0, ((Number) idle.get("waiting")).doubleValue());
    assertTrue(((Number) idle.get("instances")).intValue() > 0, idle::toString);
    printedOnce(look -> !look.contains("--metrics-url"), protocol, top);
    String without = printed(protocol, "top", "-n", "1", "-d", "0.1");
    assertTrue(without.contains("; --metrics-url URL says where"), without);
    String wrong = failure(protocol, 2, "top", "--metrics-url", "localhost:8002");
    assertTrue(wrong.contains("--metrics-url as http://HOST:PORT/metrics"), wrong);
  }

  @Test
  void topAsksForMetricsAsItAsksTheServer() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    ServerTlsOptions tls = TestCertificates.server(authority, directory);
    Path token = Files.writeString(directory.resolve("token"), "reader-0123456789abcdef");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(token)));
    server.close();
    server =
        start(
            HttpOptions.DEFAULT.withTls(tls).withAccess(access),
            access,
            MetricsOptions.DEFAULT.withTls(tls).withAccess(access));
    List<String> line = new ArrayList<>(List.of("top --json -n 1 -d 0.1".split(" ")));
    line.addAll(List.of("--token-file", token.toString(), "--tls-ca"));
    line.add(authority.writeCertificate(directory.resolve("ca.pem")).toString());
    int metrics = server.metricsPort().orElseThrow();
    line.addAll(List.of("--metrics-url", "https://localhost:" + metrics + "/metrics"));
    String look =
        printedOnce(text -> text.contains("\"instances\":"), "https", line.toArray(String[]::new));
    assertTrue(((Number) identity(look).get("instances")).intValue() > 0, look);
  }

  private static Map<?, ?> identity(String look) throws IOException {
    return ((List<?>) JSON.std.mapFrom(look).get("models"))
        .stream()
            .map(model -> (Map<?, ?>) model)
            .filter(model -> model.get("name").equals("identity_fp32"))
            .findFirst()
            .orElseThrow();
  }

  private void askUntil(AtomicBoolean enough) {
    Tensor one = Tensor.ofFloats(new float[] {1}, 1, 1);
    while (!enough.get()) {
      try (InferRequest request =
          server.nereid().model("identity_fp32").newRequest().input("INPUT0", one)) {
        request.infer().close();
      }
    }
  }

  /** How many requests a look in JSON has of the model that is asked, of all four. */
  private static long requestsSeen(String look) throws IOException {
    List<?> models = (List<?>) JSON.std.mapFrom(look).get("models");
    assertEquals(4, models.size());
    return models.stream()
        .map(model -> (Map<?, ?>) model)
        .filter(model -> model.get("name").equals("identity_fp32"))
        .mapToLong(model -> ((Number) model.get("requests")).longValue())
        .sum();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void modelsAreLoadedAndUnloaded(String protocol) throws IOException {
    assertEquals("unloaded 'digits'\n", printed(protocol, "unload", "digits"));
    assertFalse(server.nereid().models().stream().anyMatch(this::isReadyDigits));
    assertEquals(0, run(protocol, "models")); // what was unloaded on purpose is well
    assertTrue(printed(protocol, "load", "digits").startsWith("loaded 'digits' in "));
    String config = printed(protocol, "config", "identity_fp32");
    Path file = directory.resolve("config.json");
    Map<String, Object> changed = JSON.std.mapFrom(config);
    changed.put("max_batch_size", 65);
    Files.writeString(file, JSON.std.asString(changed));
    printed(protocol, "load", "identity_fp32", "--model-config", file.toString());
    Map<String, Object> now = JSON.std.mapFrom(printed(protocol, "config", "identity_fp32"));
    assertEquals(65, now.get("max_batch_size"));
    Files.writeString(file, "name: 'x'");
    assertTrue(
        failure(protocol, 1, "load", "digits", "--model-config", file.toString())
            .contains("expected a configuration in JSON"));
    assertTrue(failure(protocol, 1, "load", "none").contains("none"));
    assertTrue(failure(protocol, 2, "load", "digits", "--file", "a=b").contains("--model-config"));
  }

  private boolean isReadyDigits(Model model) {
    return model.name().equals("digits") && model.failure().isEmpty() && model.isReady();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void tracesAndLogsAreSettings(String protocol) throws IOException {
    assertTrue(printed(protocol, "trace").contains("trace_rate=1000"), last.out());
    assertTrue(printed(protocol, "trace", "rate=7").contains("trace_rate=7"), last.out());
    assertTrue(
        printed(protocol, "trace", "-m", "digits", "rate=9").contains("trace_rate=9"), last.out());
    assertTrue(printed(protocol, "trace", "rate=").contains("trace_rate=1000"), last.out());
    assertTrue(failure(protocol, 1, "trace", "rat=9").contains("trace_rate"), last.err());
    Map<String, Object> logs = JSON.std.mapFrom(printed(protocol, "logs", "--json"));
    assertEquals(0, logs.get("log_verbose_level"));
    assertTrue(printed(protocol, "logs", "verbose_level=1").contains("log_verbose_level=1"));
    printed(protocol, "logs", "verbose_level=0");
    assertTrue(failure(protocol, 1, "logs", "info=maybe").contains("log_info=true"), last.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aServerThatWantsATokenSaysSo(String protocol) throws IOException {
    server.close();
    Path token = Files.writeString(directory.resolve("token"), "abc123\n");
    server = start(AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(token))));
    assertTrue(failure(protocol, 1, "stats").contains("--token-file"), last.err());
    printed(protocol, "stats", "--token-file", token.toString());
  }

  @Test
  void aServerThatIsNotThereIsNamed() {
    int port = server.httpPort();
    server.close();
    last = new CommandLineRun();
    assertEquals(1, last.run("top", "-u", "localhost:" + port));
    assertTrue(last.err().contains("expected a server at http://localhost:" + port), last.err());
  }
}
