package io.nereid.cli;

import static io.nereid.cli.PerfFixture.number;
import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.StringReader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xml.sax.InputSource;
import tools.jackson.jr.ob.JSON;

/** The load generator against the server: what arrives there, and what is told of it. */
class PerfCommandTest {

  @TempDir Path directory;
  private PerfFixture fixture;

  @BeforeEach
  void start() {
    fixture = new PerfFixture(directory, PerfFixture.BRIEFLY);
  }

  @AfterEach
  void stop() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-u HTTP",
        "-u HTTP --input-form json",
        "-u HTTP --input-form shm",
        "-u HTTP --input-form shm --output-form json",
        "-u HTTP --shared-memory system --output-shared-memory-size 64",
        "-u HTTP --concurrency 3 --client-threads 2",
        "-u HTTP --shape IN:150528",
        "-u HTTP --rate 500",
        "-u HTTP --rate 500 --poisson -x 1",
        "-i grpc -u GRPC",
        "-i grpc -u GRPC --concurrency 3 --connections 2",
        "-i grpc -u GRPC --input-form shm",
        "-i grpc -u GRPC --streaming --concurrency 2",
        "-i grpc -u GRPC --shape IN:150528",
        "-u grpc://GRPC --request-rate-range 500 --request-distribution poisson",
      })
  void everyFormIsAnsweredRightly(String arguments) throws Exception {
    fixture.identity("m", DataType.FP32, 8, -1);
    List<String> all = new ArrayList<>(List.of("m", "--check", "-b", "2"));
    if (!arguments.contains("--shape")) {
      all.addAll(List.of("--shape", "IN:4"));
    }
    String whole = arguments.replace("HTTP", fixture.http()).replace("GRPC", fixture.grpc());
    all.addAll(Arrays.asList(whole.split(" ")));
    Map<String, Object> result =
        fixture.resultWith(
            one -> is(2, 0.1, one, "rows_per_s", "requests_per_s"), all.toArray(String[]::new));
    double requests = number(result, "requests");
    assertTrue(fixture.server.nereid().model("m").statistics().success().count() >= requests);
    assertTrue(number(result, "server_compute_infer_us") >= 0, "the server's statistics are told");
    assertTrue(number(result, "latency_p50_us") <= number(result, "latency_p99_us"));
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(
            Path.of("/dev/shm"), "nereid-perf-" + ProcessHandle.current().pid() + "-*")) {
      assertFalse(left.iterator().hasNext(), "shared memory is left");
    }
  }

  /** Whether a result has so many of something to one of something else. */
  private static boolean is(
      double ratio, double tolerance, Map<String, Object> result, String many, String one) {
    return Math.abs(number(result, many) / number(result, one) - ratio) <= tolerance;
  }

  @ParameterizedTest
  @EnumSource(DataType.class)
  void allDatatypes(DataType type) throws Exception {
    fixture.identity("m", type, 0, 5);
    fixture.result("m", "-u", fixture.http(), "--check", "-p", "20");
    fixture.result("m", "-u", "grpc://" + fixture.grpc(), "--check", "-p", "20");
    boolean json = type != DataType.FP16 && type != DataType.BF16;
    int code =
        fixture.run("m", "-u", fixture.http(), "--check", "-p", "20", "--input-form", "json");
    assertEquals(json ? 0 : 1, code, fixture::printed);
    assertEquals(!json, fixture.printed().contains("has no form in JSON"), fixture::printed);
  }

  // ---- Sequences -------------------------------------------------------------------------------

  /** Copies IN to OUT and follows the sequences that requests belong to. */
  private static final class SequenceWatch {
    final Map<String, Integer> open = new ConcurrentHashMap<>();
    final Set<Integer> lengths = new TreeSet<>();
    final AtomicReference<String> fault = new AtomicReference<>();

    synchronized void execute(Batch batch) {
      for (int i = 0; i < batch.requestCount(); i++) {
        BatchRequest request = batch.request(i);
        String id = request.sequence().orElseThrow().toString();
        boolean first = request.isSequenceStart();
        if (first == open.containsKey(id)) {
          fault.compareAndSet(null, id + ", first: " + first + ", while these are open: " + open);
        }
        int length = open.merge(id, 1, Integer::sum);
        if (request.isSequenceEnd()) {
          open.remove(id);
          lengths.add(length);
        }
      }
      batch.output("OUT", batch.input("IN"));
    }

    /**
     * Whether lengths vary and each sequence has ended, of which a client may have lost patience.
     */
    synchronized boolean hasSeenAll() {
      boolean ended = open.isEmpty();
      open.clear();
      return ended && lengths.size() > 1;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-i http -u HTTP", "-i grpc -u GRPC", "-i grpc --streaming -u GRPC"})
  void sequencesBeginAndEnd(String arguments) throws Exception {
    SequenceWatch watch = new SequenceWatch();
    fixture.ints("m", 2, context -> watch::execute);
    List<String> all =
        new ArrayList<>(
            List.of("m", "--sequences", "--sequence-length", "4", "--concurrency", "3"));
    String whole = arguments.replace("HTTP", fixture.http()).replace("GRPC", fixture.grpc());
    all.addAll(Arrays.asList(whole.split(" ")));
    all.addAll(List.of("--sequence-length-variation", "50"));
    Map<String, Object> result =
        fixture.resultWith(one -> watch.hasSeenAll(), all.toArray(String[]::new));
    double perSequence = number(result, "requests_per_s") / number(result, "sequences_per_s");
    double ended = number(result, "sequences_per_s") * number(result, "measured_s");
    double cut = 3 * 6 / ended; // requests of sequences that begin or end outside the windows
    assertEquals(4, perSequence, 1 + cut, fixture::printed);
    assertTrue(fixture.printed().contains(" sequences/s"), fixture::printed);
    assertEquals(null, watch.fault.get());
    assertTrue(watch.lengths.stream().allMatch(length -> length <= 6), watch.lengths.toString());
  }

  // ---- Streams ---------------------------------------------------------------------------------

  @Test
  void aDecoupledModelsResponsesAreTimedOneByOne() throws Exception {
    fixture
        .server
        .nereid()
        .load(
            ModelSpec.builder("m")
                .decoupled(true)
                .input("IN", DataType.INT32, 1)
                .output("OUT", DataType.INT32, 1)
                .backend(context ->
                    batch -> {
                      for (int i = 0; i < 4; i++) {
                        LockSupport.parkNanos(2_000_000);
                        batch.request(0).output("OUT", Tensor.ofInts(new int[] {i}, 1));
                        batch.request(0).respond();
                      }
                    })
                .build());
    String[] arguments = {"m", "-i", "grpc", "-u", fixture.grpc(), "--streaming", "-p", "200"};
    Map<String, Object> result =
        fixture.resultWith(
            one ->
                number(one, "requests") >= 10
                    && is(4, 0.5, one, "responses_per_s", "requests_per_s"),
            arguments);
    assertTrue(number(result, "first_response_p50_us") >= 2000, fixture::printed);
    assertTrue(number(result, "between_responses_p50_us") >= 1000, fixture::printed);
    assertTrue(number(result, "latency_p50_us") >= 8000, fixture::printed);
    assertTrue(
        number(result, "first_response_p50_us") < number(result, "latency_p50_us"),
        fixture::printed);
  }

  // ---- Data ------------------------------------------------------------------------------------

  /** Keeps what it was asked. */
  private Set<String> loadKeeper() {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    fixture
        .server
        .nereid()
        .load(
            ModelSpec.builder("m")
                .maxBatchSize(4)
                .input("IN", DataType.INT32, 2)
                .output("OUT", DataType.INT32, 2)
                .backend(context ->
                    batch -> {
                      seen.add(Arrays.toString(batch.input("IN").toIntArray()));
                      batch.output("OUT", batch.input("IN"));
                    })
                .build());
    return seen;
  }

  @Test
  void givenDataArriveAtTheModel() throws Exception {
    Set<String> seen = loadKeeper();
    Path json =
        Files.writeString(
            directory.resolve("data.json"),
            """
            {"data": [{"IN": [1, -2]}, {"IN": {"content": [[3, 4]], "shape": [2]}},
                      {"IN": {"b64": "BQAAAAYAAAA="}}]}
            """);
    fixture.resultWith(
        any -> seen.size() >= 3, "m", "-u", fixture.http(), "--input-data", json.toString());
    assertEquals(Set.of("[1, -2]", "[3, 4]", "[5, 6]"), seen);
    seen.clear();
    Path raw = Files.write(directory.resolve("IN"), new byte[] {7, 0, 0, 0, 8, 0, 0, 0});
    fixture.result("m", "-u", fixture.http(), "--input", "IN=" + raw, "-b", "2");
    assertEquals(Set.of("[7, 8, 7, 8]"), seen, "one row is repeated");
    seen.clear();
    fixture.result("m", "-u", fixture.http(), "--input-data", directory.toString());
    assertEquals(Set.of("[7, 8]"), seen);
    seen.clear();
    fixture.result("m", "-u", fixture.http(), "--input-data", "zero", "--input-form", "json");
    assertEquals(Set.of("[0, 0]"), seen);
    seen.clear();
    String[] varied = {"m", "-u", fixture.http(), "--variants", "5", "--random-range", "3:6"};
    fixture.resultWith(any -> seen.size() > 1, varied);
    assertTrue(seen.size() <= 5, seen.toString());
    assertTrue(seen.stream().allMatch(one -> one.matches("\\[[345], [345]]")), seen.toString());
  }

  @Test
  void dataOfSequencesSayHowLongTheyAre() throws Exception {
    Set<String> seen = loadKeeper();
    Path json =
        Files.writeString(
            directory.resolve("data.json"),
            "{\"data\": [[{\"IN\": [1, 1]}, {\"IN\": [1, 2]}], [{\"IN\": [2, 1]}]]}");
    String[] arguments = {
      "m", "-u", fixture.http(), "--input-data", json.toString(), "--sequences"
    };
    fixture.resultWith(any -> seen.size() >= 3, arguments);
    assertEquals(Set.of("[1, 1]", "[1, 2]", "[2, 1]"), seen);
  }

  // ---- Reports ---------------------------------------------------------------------------------

  @Test
  void reportsAreWritten() throws Exception {
    fixture.identity("m", DataType.FP32, 0, 16);
    Path csv = directory.resolve("a.csv");
    Path html = directory.resolve("a.html");
    Map<String, Object> report =
        fixture.report(
            "m",
            "-u",
            fixture.http(),
            "--concurrency",
            "1:4:x2",
            "--csv",
            csv.toString(),
            "--html",
            html.toString());
    List<Map<String, Object>> results = PerfFixture.results(report);
    assertEquals(List.of(1.0, 2.0, 4.0), results.stream().map(one -> one.get("value")).toList());
    assertEquals(true, report.get("server_cpu_known"), "the listener was found");
    assertTrue(fixture.printed().contains("the server runs in this process"), fixture::printed);
    assertTrue(number(results.getFirst(), "client_cpu_us") > 0);

    List<String> lines = Files.readAllLines(csv);
    assertEquals(4, lines.size());
    int columns = lines.getFirst().split(",", -1).length;
    assertTrue(lines.stream().allMatch(line -> line.split(",", -1).length == columns));
    assertTrue(lines.get(3).startsWith("concurrency,4.000,"), lines.get(3));

    String page = Files.readString(html);
    assertTrue(page.contains("prefers-color-scheme: dark"));
    assertTrue(page.contains(" ran on the machine that measured it, with "), page);
    boolean slow = results.stream().anyMatch(one -> number(one, "latency_p99_us") > 1000);
    assertEquals(slow, page.contains("latency in ms"));
    assertEquals(!slow, page.contains("latency in us"));
    assertFalse(page.matches("(?s).*(<script|<link|src=|url\\().*"), "it loads nothing");
    Matcher svg = Pattern.compile("(?s)<svg.*?</svg>").matcher(page);
    int plots = 0;
    while (svg.find()) {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new InputSource(new StringReader(svg.group())));
      assertFalse(svg.group().contains("NaN"), svg::group);
      plots++;
    }
    assertEquals(3, plots);
  }

  @Test
  void theHighestLoadForATargetIsFound() throws Exception {
    fixture.ints(
        "m",
        1,
        context ->
            batch -> {
              LockSupport.parkNanos(20_000_000);
              batch.output("OUT", batch.input("IN"));
            });
    Path json = directory.resolve("slo.json");
    String[] search = {
      "m", "-u", fixture.http(), "--slo", "p50<=75ms", "-p", "120", "--json", json.toString()
    };
    // Three wait 60 ms each if nothing disturbs; else another load may be found, or none.
    String found = "(?s).*p50<=75ms is met up to concurrency [23]: .*";
    await(
        () -> fixture.run(search) == 0 && fixture.printed().matches(found),
        "neither three at a time nor two were found");
    Map<?, ?> slo = (Map<?, ?>) JSON.std.mapFrom(Files.readString(json)).get("slo");
    assertEquals(true, slo.get("met"), fixture::printed);
    assertTrue(List.of(2.0, 3.0).contains(slo.get("value")), fixture::printed);
    assertTrue(fixture.printed().contains("tried for p50<=75ms"), fixture::printed);
    int code = fixture.run("m", "-u", fixture.http(), "--slo", "avg<=1ms");
    assertEquals(1, code, fixture::printed);
    assertTrue(fixture.printed().contains("not even by the lowest"), fixture::printed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-u HTTP",
        "-u HTTP --input-form json --sequences",
        "-i grpc -u GRPC --concurrency 3",
        "-i grpc -u GRPC --streaming --sequences -x 1"
      })
  void eachRequestMayHaveAnIdOfItsOwn(String arguments) throws Exception {
    Set<String> ids = ConcurrentHashMap.newKeySet();
    AtomicInteger count = new AtomicInteger();
    fixture
        .server
        .nereid()
        .load(
            ModelSpec.builder("m")
                .input("IN", DataType.FP32, 1)
                .output("OUT", DataType.FP32, 1)
                .backend(context ->
                    batch -> {
                      count.incrementAndGet();
                      ids.add(batch.request(0).id().orElse(""));
                      batch.output("OUT", batch.input("IN"));
                    })
                .build());
    String all = "m --request-ids " + arguments;
    String[] parts = all.replace("HTTP", fixture.http()).replace("GRPC", fixture.grpc()).split(" ");
    Map<String, Object> report = fixture.report(parts);
    assertEquals(true, report.get("request_ids"));
    assertTrue(fixture.printed().contains("each with its own id"), fixture::printed);
    assertEquals(count.get(), ids.size());
    assertTrue(ids.stream().allMatch(id -> id.matches("[0-9]{16}")), ids::toString);
  }
}
