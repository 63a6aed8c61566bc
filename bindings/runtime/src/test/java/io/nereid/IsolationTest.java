package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models that run in a process of their own, seen by the program that embeds them. */
@Timeout(600)
class IsolationTest extends RuntimeTest {

  @TempDir Path directory;

  private static Path model(String name) {
    Path here = Path.of("examples/models", name, "1/model.onnx");
    return (here.toFile().exists() ? here : Path.of("..", "..").resolve(here)).toAbsolutePath();
  }

  private static ModelSpec.Builder simple() {
    return ModelSpec.builder("simple").onnx(model("simple")).isolation("process");
  }

  private static int[] sums(Model model) {
    int[] ones = new int[16];
    Arrays.fill(ones, 1);
    int[] numbers = Arrays.stream(new int[16]).map(i -> 41).toArray();
    try (InferRequest request =
            model
                .newRequest()
                .input("INPUT0", Tensor.ofInts(numbers, 1, 16))
                .input("INPUT1", Tensor.ofInts(ones, 1, 16));
        InferResponse response = request.infer()) {
      return response.output("OUTPUT0").toIntArray();
    }
  }

  private static void assertAnswers(Model model) {
    int[] expected = new int[16];
    Arrays.fill(expected, 42);
    assertArrayEquals(expected, sums(model));
  }

  private static IsolationStatistics figures(Model model) {
    return model.isolationStatistics().orElseThrow();
  }

  private static ProcessHandle process(Model model) {
    return ProcessHandle.of(figures(model).process()).orElseThrow();
  }

  private static void signal(Model model, String name) throws Exception {
    String process = Long.toString(figures(model).process());
    assertEquals(0, new ProcessBuilder("kill", "-" + name, process).start().waitFor());
  }

  /** Stops the model's process; each of its threads stops when it sees the signal, not before. */
  private static void stop(Model model) throws Exception {
    signal(model, "STOP");
    for (Path thread : threads(model)) {
      while (!isStopped(thread)) {
        Thread.sleep(5);
      }
    }
  }

  private static boolean isStopped(Path thread) {
    try {
      return Files.readString(thread.resolve("stat")).contains(") T ");
    } catch (IOException e) {
      return !Files.exists(thread); // it ended before it saw the signal
    }
  }

  /** The directories of the threads of the model's process. */
  private static List<Path> threads(Model model) throws IOException {
    Path tasks = Path.of("/proc", Long.toString(figures(model).process()), "task");
    try (Stream<Path> threads = Files.list(tasks)) {
      return threads.toList();
    }
  }

  private static void awaitRestarts(Model model, long count) throws InterruptedException {
    while (figures(model).restarts() < count) {
      Thread.sleep(5);
    }
  }

  @Test
  void anEnsembleIsIsolatedWithAStepOfIt() {
    nereid.load(identity("a").build());
    assertFalse(nereid.load(EnsembleTest.ensemble("e", EnsembleTest.chain("a"))).isIsolated());
    nereid.load(identity("b").isolation("process").build());
    Model ensemble = nereid.load(EnsembleTest.ensemble("f", EnsembleTest.chain("a", "b")));
    assertTrue(ensemble.isIsolated());
    assertTrue(ensemble.isolationStatistics().isEmpty());
    roundTrip(ensemble, 1);
  }

  @Test
  void aModelDiesAndComesBackAndThisProcessGoesOn() throws Exception {
    Model model = nereid.load(simple().build());
    assertAnswers(model);
    ProcessHandle first = process(model);
    assertTrue(first.parent().orElseThrow().pid() == ProcessHandle.current().pid());
    long deaths = 0;
    for (String name : new String[] {"SEGV", "ABRT", "KILL", "TERM"}) {
      signal(model, name);
      awaitRestarts(model, ++deaths);
      assertAnswers(model);
    }
    IsolationStatistics figures = figures(model);
    assertTrue(figures.up());
    assertEquals(4, figures.restarts());
    assertEquals(0, figures.deathsInARow());
    assertTrue(figures.residentBytes() > 0);
    assertTrue(figures.lastEnd().contains("signal 15"), figures.lastEnd());
    assertFalse(first.isAlive());
    ProcessHandle last = process(model);
    model.unload();
    assertFalse(last.isAlive());
    assertTrue(model.isolationStatistics().isEmpty());
  }

  @Test
  void modelsOfAGroupShareAProcessAndItsEnd() throws Exception {
    ModelSpec.Builder other = ModelSpec.builder("other").onnx(model("simple"));
    Model alone =
        nereid.load(ModelSpec.builder("alone").onnx(model("simple")).isolation("process").build());
    Model first = nereid.load(simple().isolation("process:pair").build());
    Model second = nereid.load(other.isolation("process:pair").build());
    assertEquals(figures(first).process(), figures(second).process());
    assertTrue(figures(first).process() != figures(alone).process());
    signal(first, "KILL");
    awaitRestarts(first, 1);
    awaitRestarts(second, 1);
    assertAnswers(first);
    assertAnswers(second);
    ProcessHandle process = process(second);
    assertEquals(process.pid(), figures(first).process());
    first.unload();
    assertAnswers(second);
    assertTrue(process.isAlive());
    second.unload();
    assertFalse(process.isAlive());
    assertEquals(0, figures(alone).restarts());
  }

  private static long sharedThreads(Model model) throws IOException {
    return threads(model).stream().filter(IsolationTest::isOfOnnxRuntime).count();
  }

  private static boolean isOfOnnxRuntime(Path thread) {
    try {
      return Files.readString(thread.resolve("comm")).equals("nrd-ort\n");
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  @Test
  void onnxRuntimeHasAThreadForEachProcessorOfItsProcess() throws Exception {
    String own = Files.readString(Path.of("/proc/self/status"));
    String first = own.replaceAll("(?s).*Cpus_allowed_list:\\s*(\\d+).*", "$1");
    Model free = nereid.load(simple().build());
    Model limited =
        nereid.load(
            ModelSpec.builder("limited")
                .onnx(model("simple"))
                .isolation("process")
                .parameter("isolation_cpus", first)
                .build());
    assertAnswers(free);
    assertAnswers(limited);
    // The thread that asks for the answer is one of them.
    assertEquals(Runtime.getRuntime().availableProcessors() - 1, sharedThreads(free));
    assertEquals(0, sharedThreads(limited));
  }

  @Test
  void aProcessThatHangsIsKilledAtTheLimit() throws Exception {
    Model model = nereid.load(simple().parameter("isolation_timeout_ms", "2000").build());
    stop(model);
    NereidException hung = assertThrows(NereidException.class, () -> sums(model));
    assertEquals(StatusCode.UNAVAILABLE, hung.code());
    assertTrue(hung.getMessage().contains("isolation_timeout_ms, 2000 ms"), hung.getMessage());
    await(() -> answers(model), "an answer of another process within the limit");
  }

  private static boolean answers(Model model) {
    try {
      assertAnswers(model);
      return true;
    } catch (NereidException e) {
      assertEquals(StatusCode.UNAVAILABLE, e.code());
      return false;
    }
  }

  @Test
  void aModelThatIsGivenUpIsNotReadyAndSaysWhy() throws Exception {
    Model model = nereid.load(simple().parameter("isolation_deaths", "2").build());
    for (int deaths = 1; deaths <= 2; deaths++) {
      assertTrue(model.isReady());
      signal(model, "KILL");
      awaitRestarts(model, deaths);
      while (!figures(model).up() && !figures(model).failed()) {
        Thread.sleep(5);
      }
    }
    assertFalse(model.isReady());
    String reason = model.failure().orElseThrow();
    assertTrue(reason.contains("signal 9") && reason.contains("2 times in a row"), reason);
    NereidException refused = assertThrows(NereidException.class, () -> sums(model));
    assertTrue(refused.getMessage().contains("2 times in a row"), refused.getMessage());
    Model again = nereid.load(simple().build());
    assertTrue(again.isReady());
    assertAnswers(again);
  }

  @Test
  void aPlaceThatNobodyKnowsIsRefused() {
    ModelSpec typo = ModelSpec.builder("typo").onnx(model("simple")).isolation("thread").build();
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "expected isolation \"process\", \"process:GROUP\" or \"none\" for model 'typo', got"
            + " \"thread\"",
        () -> nereid.load(typo));
  }

  @Test
  void aRepositorySaysItInConfigurationsAndInItsOptions() throws Exception {
    add("own", "parameters { key: \"isolation\" value { string_value: \"process\" } }");
    add("plain", "");
    add("wrong", "parameters { key: \"isolation\" value { string_value: \"jail\" } }");
    add("sly", "parameters { key: \"isolation.child\" value { string_value: \"/bin/sh\" } }");
    RepositoryOptions.Builder options = RepositoryOptions.builder().repository(directory);
    try (Nereid some = Nereid.open(options.build())) {
      assertTrue(some.model("own").isolationStatistics().isPresent());
      assertTrue(some.model("plain").isolationStatistics().isEmpty());
      String wrong = failure(some, "wrong");
      assertTrue(
          wrong.contains("expected isolation \"process\", \"process:GROUP\" or \"none\""), wrong);
      String sly = failure(some, "sly");
      assertTrue(sly.contains("'isolation.child' is set by the runtime alone"), sly);
    }
    options.isolation("*", "process").isolation("own", "none");
    try (Nereid others = Nereid.open(options.build())) {
      assertTrue(others.model("own").isolationStatistics().isEmpty());
      assertTrue(others.model("plain").isolationStatistics().isPresent());
      String text = others.model("plain").configuration().toCommentedText();
      assertTrue(text.matches("(?s).*string_value: \"process\" +# --isolation\n.*"), text);
    }
  }

  private static String failure(Nereid some, String name) {
    return some.models().stream()
        .filter(model -> model.name().equals(name))
        .flatMap(model -> model.failure().stream())
        .findFirst()
        .orElseThrow();
  }

  private void add(String name, String more) throws IOException {
    Path version = Files.createDirectories(directory.resolve(name).resolve("1"));
    Files.copy(model("simple"), version.resolve("model.onnx"));
    Files.writeString(directory.resolve(name).resolve("config.pbtxt"), more + "\n");
  }
}
