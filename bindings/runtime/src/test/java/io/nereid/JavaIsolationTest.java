package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.fixtures.CommandedBackend;
import io.nereid.fixtures.CommandedBackend.Command;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceId;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models of backends in Java that run in a JVM of their own, seen by the program around them. */
@Timeout(600)
class JavaIsolationTest extends RuntimeTest {

  private static final int[] ROW = {-7, 2, 3, 4};

  /**
   * The rounds of each way to die. NEREID_ISOLATION_ROUNDS=200 makes a long run, which needs
   * -Djunit.jupiter.execution.timeout.mode=disabled and prints its figures.
   */
  private static final int ROUNDS =
      Integer.parseInt(System.getenv().getOrDefault("NEREID_ISOLATION_ROUNDS", "1"));

  private final List<Long> msUntilBack = new ArrayList<>();

  @TempDir Path directory;

  private static ModelSpec.Builder isolated(String name) {
    return CommandedBackend.model(name).isolation("process");
  }

  private static InferRequest request(Model model, int... values) {
    return model.newRequest().input("IN", Tensor.ofInts(values, values.length / 4, 4));
  }

  private static InferRequest request(Model model, Command command) {
    return request(model, command.ordinal(), 2, 3, 4);
  }

  private static void assertAnswers(Model model) {
    try (InferRequest request = request(model, ROW);
        InferResponse response = request.infer()) {
      assertArrayEquals(ROW, response.output("OUT").toIntArray());
    }
  }

  private static String seen(InferRequest request) {
    try (request;
        InferResponse response = request.infer()) {
      return response.output("SEEN").stringAt(0);
    }
  }

  /** The message of a death, whose next process has the model's place afterwards. */
  private String death(Model model, Command command) {
    try (InferRequest request = request(model, command)) {
      String message = assertFails(StatusCode.UNAVAILABLE, request::infer).getMessage();
      long told = System.nanoTime();
      assertAnswers(model);
      msUntilBack.add((System.nanoTime() - told) / 1_000_000);
      return message;
    }
  }

  private static void assertContains(String text, String part) {
    assertTrue(text.contains(part), text);
  }

  private void dieInEachWay(Model model, Model hangs) {
    assertContains(death(model, Command.HALT), "ended by itself with status 41");
    assertContains(death(model, Command.EXIT), "ended by itself with status 42");
    String crash = death(model, Command.CRASH);
    assertContains(crash, "was killed by signal 6 (Aborted); its last lines: SIGSEGV (0xb)");
    assertContains(crash, "| C  [libc.so.6");
    assertContains(death(model, Command.EAT), "OutOfMemoryError");
    try (InferRequest request = request(hangs, Command.HANG)) {
      String hung = assertFails(StatusCode.UNAVAILABLE, request::infer).getMessage();
      assertContains(hung, "isolation_timeout_ms, 50 ms");
    }
  }

  /** Things of this process that a leak would add to. */
  private record Belongings(long descriptors, long children) {
    static Belongings count(Model hangs) throws Exception {
      await(() -> hangs.isolationStatistics().orElseThrow().up(), "the process of " + hangs.name());
      try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
        return new Belongings(files.count(), ProcessHandle.current().children().count());
      }
    }
  }

  private static String size() throws Exception {
    try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
      return threads.count() + " threads, " + ProcessSize.withoutGarbage();
    }
  }

  /** Rounds in which nothing may be lost. */
  private void goOnDying(Model model, Model hangs) throws Exception {
    Belongings before = Belongings.count(hangs);
    String size = size();
    msUntilBack.clear();
    for (int round = 1; round < ROUNDS; round++) {
      dieInEachWay(model, hangs);
    }
    Collections.sort(msUntilBack);
    int last = msUntilBack.size() - 1;
    System.out.printf(
        "%d restarts, back after %d ms (median), %d ms (p99), %d ms at most%n",
        model.isolationStatistics().orElseThrow().restarts()
            + hangs.isolationStatistics().orElseThrow().restarts(),
        msUntilBack.get(last / 2),
        msUntilBack.get(last * 99 / 100),
        msUntilBack.get(last));
    System.out.printf(
        "before: %s, %s%nafter: %s, %s%n", before, size, Belongings.count(hangs), size());
    assertEquals(before, Belongings.count(hangs));
  }

  @Test
  void whateverItDoesEndsItsProcessAlone() throws Exception {
    Model model = nereid.load(isolated("m").parameter("isolation_heap_mb", "24").build());
    Model hangs =
        nereid.load(
            isolated("hangs")
                .parameter("isolation_timeout_ms", "50")
                .parameter("isolation_deaths", "1000000") // it never answers
                .build());
    Model bystander = nereid.load(identity("bystander").isolation("process").build());
    Model other = nereid.load(identity("other").build());
    AtomicBoolean done = new AtomicBoolean();
    CompletableFuture<Integer> served =
        CompletableFuture.supplyAsync(() -> {
          int count = 0;
          for (; !done.get(); count++) {
            roundTrip(other, count);
            roundTrip(bystander, count + 0.5f);
          }
          return count;
        });
    try {
      dieInEachWay(model, hangs);
      if (ROUNDS > 1) {
        goOnDying(model, hangs);
      }
    } finally {
      done.set(true);
    }
    int right = served.join();
    assertTrue(right > 0);
    if (ROUNDS > 1) {
      System.out.println(right + " right answers of each of the two others, and no other answer");
    }
    assertEquals(4 * ROUNDS, model.isolationStatistics().orElseThrow().restarts());
    assertEquals(0, bystander.isolationStatistics().orElseThrow().restarts());
    try (var files = Files.list(Path.of(""))) {
      assertTrue(files.noneMatch(file -> file.toString().startsWith("hs_err")));
    }
  }

  @Test
  void exceptionsAndWrongAnswersFailRequestsAndTheProcessGoesOn() {
    Model model = nereid.load(isolated("m").build());
    long process = model.isolationStatistics().orElseThrow().process();
    assertFailure(model, Command.THROW, StatusCode.INTERNAL, "threw java.lang.IllegalStateExcept");
    assertFailure(model, Command.FAIL_ONE, StatusCode.NOT_FOUND, "this one alone");
    assertFailure(model, Command.WRONG_SHAPE, StatusCode.INTERNAL, "'OUT'");
    assertFailure(model, Command.FORGET, StatusCode.INTERNAL, "'OUT'");
    assertFailure(model, Command.OPEN_RUNTIME, StatusCode.FAILED_PRECONDITION, "open no runtime");
    assertAnswers(model);
    assertEquals(process, model.isolationStatistics().orElseThrow().process());
  }

  @Test
  void itsJvmRunsOnTheProcessorsThatItsModelNames() throws Exception {
    String own = Files.readString(Path.of("/proc/self/status"));
    String first = own.replaceAll("(?s).*Cpus_allowed_list:\\s*(\\d+).*", "$1");
    Model model = nereid.load(isolated("m").parameter("isolation_cpus", first).build());
    assertFailure(model, Command.TELL_PROCESSORS, StatusCode.NOT_FOUND, "on 1 processors");
  }

  private static void assertFailure(Model model, Command command, StatusCode code, String part) {
    try (InferRequest request = request(model, command)) {
      assertContains(assertFails(code, request::infer).getMessage(), part);
    }
  }

  /** The words of the backend about requests alone, in a batch, and of a sequence. */
  private List<String> words(String isolation) {
    ModelSpec.Builder plain = CommandedBackend.model("m").isolation(isolation);
    Model model =
        nereid.load(
            plain
                .dynamicBatching(
                    DynamicBatching.builder()
                        .preferredBatchSizes(4)
                        .maxQueueDelay(PATIENCE)
                        .build())
                .build());
    List<String> words = new ArrayList<>();
    try (InferRequest first = request(model, -1, 2, 3, 4, -5, 6, 7, 8).id("one");
        InferRequest second = request(model, ROW).id("two").parameter("size", 3L);
        InferRequest third = request(model, ROW).parameter("kind", "x").parameter("really", true)) {
      List<CompletableFuture<InferResponse>> futures =
          List.of(first.inferAsync(), second.inferAsync(), third.inferAsync());
      for (CompletableFuture<InferResponse> future : futures) {
        try (InferResponse response = future.join()) {
          assertEquals(4, response.executedBatchSize());
          words.add(response.output("SEEN").stringAt(0));
        }
      }
    }
    State state = State.of("SUM", "SUM_OUT", DataType.INT32, 1);
    Model sums =
        nereid.load(
            CommandedBackend.model("s")
                .isolation(isolation)
                .sequenceBatching(
                    SequenceBatching.oldest(2).withMaxIdle(Duration.ofHours(1)).withState(state))
                .build());
    SequenceId id = SequenceId.of("ours");
    words.add(seen(request(sums, ROW).sequence(id).sequenceStart(true)));
    words.add(seen(request(sums, ROW).sequence(id)));
    words.add(seen(request(sums, ROW).sequence(id).sequenceEnd(true)));
    model.unload();
    sums.unload();
    return words;
  }

  @Test
  void itSeesWhatABackendInTheServerSees() {
    List<String> words = words("none");
    assertEquals("one {} - false+false: 24", words.getFirst());
    assertEquals(words, words("process"));
  }

  private static Tensor zeros(int count) {
    return Tensor.of(DataType.UINT32, Tensor.ofInts(new int[count], count).segment(), count);
  }

  @Test
  void streamsEndAsInTheServer() {
    Model model =
        nereid.load(
            ModelSpec.builder("repeated")
                .backend("repeat")
                .decoupled(true)
                .input("IN", DataType.INT32, -1)
                .input("DELAY", DataType.UINT32, -1)
                .input("WAIT", DataType.UINT32, 1)
                .output("OUT", DataType.INT32, 1)
                .output("IDX", DataType.UINT32, 1)
                .isolation("process")
                .build());
    int[] values = {4, 5, 6};
    try (var request =
            model
                .newRequest()
                .input("IN", Tensor.ofInts(values, 3))
                .input("DELAY", zeros(3))
                .input("WAIT", zeros(1));
        var stream = request.inferStream()) {
      for (int value : values) {
        try (InferResponse response = stream.next()) {
          assertEquals(value, response.output("OUT").intAt(0));
        }
      }
      assertNull(stream.next());
    }
  }

  @Test
  void aModelThatTellsItsTensorsFillsInItsConfiguration() throws Exception {
    Path model = Files.createDirectories(directory.resolve("told"));
    Files.createDirectories(model.resolve("1"));
    String config = "backend: \"" + CommandedBackend.class.getName() + "\"\n";
    Files.writeString(model.resolve("config.pbtxt"), config);
    RepositoryOptions.Builder options =
        RepositoryOptions.builder().repository(directory).isolation("*", "process:both");
    long process;
    try (Nereid some = Nereid.open(options.build())) {
      Model told = some.model("told");
      assertEquals(List.of(4L), told.spec().inputs().getFirst().dims());
      assertEquals(4, told.spec().maxBatchSize()); // the default, as six would do
      assertAnswers(told);
      Model second = some.load(CommandedBackend.model("second").isolation("process:both").build());
      assertAnswers(second);
      process = told.isolationStatistics().orElseThrow().process();
      assertEquals(process, second.isolationStatistics().orElseThrow().process());
    }
    assertFalse(ProcessHandle.of(process).map(ProcessHandle::isAlive).orElse(false));
  }

  @Test
  void modelsThatCannotBeIsolatedAreRefused() {
    ModelSpec object =
        identity("object").backend(context -> batch -> {}).isolation("process").build();
    assertRefused(object, StatusCode.UNIMPLEMENTED, "its backend is an object of this program");
    ModelSpec heap = isolated("heap").parameter("isolation_heap_mb", "a lot").build();
    assertRefused(heap, StatusCode.INVALID_ARGUMENT, "isolation_heap_mb of model 'heap' is");
    ModelSpec cpus = isolated("cpus").parameter("isolation_cpus", "a few").build();
    assertRefused(cpus, StatusCode.INVALID_ARGUMENT, "isolation_cpus is 'a few', expected a list");
    ModelSpec broken = isolated("broken").parameter("unloadable", "1").build();
    assertRefused(broken, StatusCode.INTERNAL, "it cannot be opened");
    ModelSpec unknown = isolated("unknown").backend("no.such.Backend").build();
    assertRefused(unknown, StatusCode.NOT_FOUND, "unknown backend 'no.such.Backend'");
  }

  private void assertRefused(ModelSpec spec, StatusCode code, String part) {
    NereidException refused = assertFails(code, () -> nereid.load(spec));
    assertContains(refused.getMessage(), part);
  }
}
