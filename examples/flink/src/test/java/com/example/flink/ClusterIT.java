package com.example.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Jobs on a cluster of Flink in this process, with models in process and on a server. */
class ClusterIT {

  private static final Path MODELS = Path.of(System.getProperty("flink.models"));
  private static final int KILLS = Integer.getInteger("flink.kills", 3);

  /** The requests under way that Flink allows from SQL. */
  private static final int IN_FLIGHT = 10;

  /** Images that the running job has read; all tasks are in this process. */
  private static final AtomicLong READ = new AtomicLong();

  private static final AtomicLong ECHOED = new AtomicLong();

  private static List<String> lines;
  private static List<Integer> digits;
  private static NereidServer server;
  private static MiniCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    lines = Files.readAllLines(Path.of(System.getProperty("flink.data")));
    digits = expected();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(RepositoryOptions.builder().repository(MODELS).build())
                .withHttp(HttpOptions.DEFAULT)
                .withGrpc(GrpcOptions.DEFAULT));
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setNumTaskManagers(2)
                .setNumSlotsPerTaskManager(2)
                .withRandomPorts()
                .build());
    cluster.start();
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
    server.close();
  }

  /** The digits as the runtime itself tells them. */
  private static List<Integer> expected() {
    List<Integer> all = new ArrayList<>();
    try (Nereid nereid = Nereid.open(MODELS)) {
      for (String line : lines) {
        Float[] boxed = (Float[]) ScoreDigits.image(0, line).getField(1);
        float[] pixels = new float[boxed.length];
        IntStream.range(0, boxed.length).forEach(i -> pixels[i] = boxed[i]);
        try (var request =
                nereid.model("digits").newRequest().input("image", Tensor.ofFloats(pixels, 1, 8, 8));
            var response = request.infer()) {
          float[] scores = response.output("scores").toFloatArray();
          Float[] again = new Float[scores.length];
          IntStream.range(0, scores.length).forEach(i -> again[i] = scores[i]);
          all.add(ScoreDigits.best(again));
        }
      }
    }
    return all;
  }

  /** The job for so many images, each the file's next, over and over. */
  private static StreamGraph job(String model, long images, long pauseUs, Path to) {
    StreamExecutionEnvironment environment = environment();
    ScoreDigits.write(
        ScoreDigits.score(environment, images(environment, images, pauseUs), model), to);
    return environment.getStreamGraph();
  }

  private static StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100));
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 20 * KILLS);
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(2);
    return environment;
  }

  private static DataStream<Row> images(
      StreamExecutionEnvironment environment, long images, long pauseUs) {
    List<String> file = new ArrayList<>(lines); // goes to the tasks with the function
    return environment
        .fromSequence(0, images - 1)
        .map(
            id -> {
              READ.incrementAndGet();
              if (pauseUs > 0) {
                TimeUnit.MICROSECONDS.sleep(pauseUs);
              }
              return ScoreDigits.image(id, file.get((int) (id % file.size())));
            },
            ScoreDigits.IMAGE);
  }

  private static JobID submit(StreamGraph graph) throws Exception {
    READ.set(0);
    return cluster.submitJob(graph.getJobGraph()).get().getJobID();
  }

  private static void finish(JobID job) throws Exception {
    cluster.requestJobResult(job).get().toJobExecutionResult(ClusterIT.class.getClassLoader());
  }

  /** Fails unless each image has its digit, once. */
  private static void check(Path directory, long images) throws IOException {
    List<String> wanted = new ArrayList<>();
    for (long id = 0; id < images; id++) {
      wanted.add(id + " " + digits.get((int) (id % digits.size())));
    }
    assertEquals(wanted.stream().sorted().toList(), answers(directory).stream().sorted().toList());
  }

  private static List<String> answers(Path directory) throws IOException {
    List<String> answers = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory)) {
      files
          .filter(file -> Files.isRegularFile(file) && !file.getFileName().toString().startsWith("."))
          .forEach(file -> answers.addAll(read(file)));
    }
    return answers;
  }

  private static List<String> read(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String url() {
    return "grpc://localhost:" + server.grpcPort().getAsInt();
  }

  @Test
  void modelInProcessAndOnAServerGiveTheSameDigits(@TempDir Path directory) throws Exception {
    for (String model :
        List.of(
            ScoreDigits.nereid(MODELS.toString()),
            ScoreDigits.nereid(url()),
            ScoreDigits.nereid("http://localhost:" + server.httpPort()))) {
      Path to = Files.createTempDirectory(directory, "out");
      finish(submit(job(model, 1000, 0, to)));
      check(to, 1000);
    }
  }

  /** The job in a JVM of its own, on Java 17 where there is one. */
  private static Process onJava17(String model, Path images, Path to) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java17.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-opens"))
        .forEach(command::add);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(ScoreDigits.class.getName(), model, images.toString(), to.toString()));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  @Test
  void jobOnJava17AsksAServer(@TempDir Path directory) throws Exception {
    Path images = Files.write(directory.resolve("images"), lines.subList(0, 100));
    Path to = directory.resolve("out");
    Process job = onJava17(url(), images, to);
    String said = new String(job.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, job.waitFor(), said);
    assertEquals(
        digits.subList(0, 100).stream().map(digit -> "0 " + digit).sorted().toList(),
        answers(to).stream().sorted().toList());
  }

  @Test
  void killedTaskManagersLoseAndDoubleNothing(@TempDir Path directory) throws Exception {
    for (String model : List.of(MODELS.toString(), url())) {
      Path to = Files.createTempDirectory(directory, "out");
      long images = 2000L * (KILLS + 1);
      JobID job = submit(job(ScoreDigits.nereid(model), images, 500, to));
      for (int kill = 1; kill <= KILLS; kill++) {
        awaitRead(job, 1000);
        cluster.terminateTaskManager(kill).get();
        READ.set(0);
        cluster.startTaskManager();
      }
      finish(job);
      check(to, images);
    }
  }

  private static void awaitRead(JobID job, long images) throws Exception {
    while (READ.get() < images) {
      if (cluster.getJobStatus(job).get().isGloballyTerminalState()) {
        finish(job);
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  @Test
  void jobGoesOnFromASavepoint(@TempDir Path directory) throws Exception {
    Path to = directory.resolve("out");
    String model = ScoreDigits.nereid(MODELS.toString());
    JobID job = submit(job(model, 4000, 500, to));
    awaitRead(job, 1000);
    String savepoint =
        cluster
            .stopWithSavepoint(
                job,
                directory.resolve("savepoint").toUri().toString(),
                false,
                SavepointFormatType.CANONICAL)
            .get();
    StreamGraph again = job(model, 4000, 0, to);
    again.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint));
    finish(submit(again));
    check(to, 4000);
  }

  /** The options of a model that answers with its input, in process and on the server. */
  private static List<String> echoes() {
    return Stream.of("'repository' = '" + MODELS + "'", "'url' = '" + url() + "'")
        .map(place -> "'provider' = 'nereid', 'model' = 'identity_fp32', " + place)
        .toList();
  }

  /** Sends images to the model from SQL, and counts those that came back as they went. */
  private static long echoed(String options, long images) throws Exception {
    StreamExecutionEnvironment environment = environment();
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.createTemporaryView("images", images(environment, images, 0));
    tables.executeSql(
        "CREATE TEMPORARY MODEL echo INPUT (INPUT0 ARRAY<FLOAT>) OUTPUT (OUTPUT0 ARRAY<FLOAT>)"
            + " WITH ("
            + options
            + ")");
    return count(
        environment,
        tables.toDataStream(
            tables.sqlQuery(
                "SELECT image, OUTPUT0 FROM ML_PREDICT(TABLE images, MODEL echo,"
                    + " DESCRIPTOR(image), MAP['async', 'true'])")));
  }

  /** The same by Flink's own function for Triton: a request in JSON for each image. */
  private static long echoedByTriton(long images) throws Exception {
    StreamExecutionEnvironment environment = environment();
    String models = "http://localhost:" + server.httpPort() + "/v2/models";
    TritonRows triton =
        new TritonRows(new HashMap<>(Map.of("endpoint", models, "model-name", "identity_fp32")));
    return count(
        environment,
        AsyncDataStream.orderedWait(
                images(environment, images, 0), triton, 60, TimeUnit.SECONDS, IN_FLIGHT)
            .returns(
                Types.ROW(Types.OBJECT_ARRAY(Types.FLOAT), Types.OBJECT_ARRAY(Types.FLOAT))));
  }

  private static long count(StreamExecutionEnvironment environment, DataStream<Row> pairs)
      throws Exception {
    ECHOED.set(0);
    pairs
        .map(
            row ->
                Arrays.equals((Float[]) row.getField(0), (Float[]) row.getField(1))
                    ? ECHOED.incrementAndGet()
                    : -1,
            Types.LONG)
        .sinkTo(new DiscardingSink<>());
    finish(submit(environment.getStreamGraph()));
    return ECHOED.get();
  }

  @Test
  void flinksFunctionForTritonGetsTheSameRows() throws Exception {
    for (String options : echoes()) {
      assertEquals(500, echoed(options, 500), options);
    }
    assertEquals(500, echoedByTriton(500));
  }

  @Test
  @EnabledIfSystemProperty(named = "flink.measure", matches = "[0-9]+")
  void rowsInProcessBesideJsonRequests() throws Exception {
    long images = Long.getLong("flink.measure");
    for (int round = 0; round < 4; round++) {
      for (String options : echoes()) {
        say(options, images, () -> echoed(options, images));
      }
      say("Flink's function for Triton", images, () -> echoedByTriton(images));
    }
  }

  private static void say(String how, long images, Callable<Long> job) throws Exception {
    long startNs = System.nanoTime();
    assertEquals(images, job.call());
    System.out.printf("%,.0f rows/s: %s%n", images * 1e9 / (System.nanoTime() - startNs), how);
  }
}
