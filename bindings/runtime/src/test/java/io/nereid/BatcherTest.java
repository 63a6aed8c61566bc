package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.fixtures.ByUser;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.Batcher;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.model.WaitingRequest;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches by a policy of the model's own. */
class BatcherTest extends RuntimeTest {

  @TempDir Path directory;

  private final Semaphore entered = new Semaphore(0);
  private final Semaphore permits = new Semaphore(0);

  /** What each batch was made of: the first value of each request. */
  private final List<List<Integer>> batches = new CopyOnWriteArrayList<>();

  private final Backend gathering =
      new Backend() {
        @Override
        public BackendInstance open(ModelContext context) {
          return BatcherTest.this::execute;
        }

        @Override
        public boolean gathers() {
          return true;
        }
      };

  private void execute(Batch batch) throws Exception {
    entered.release();
    permits.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    List<Integer> values = new ArrayList<>();
    for (int i = 0; i < batch.requestCount(); i++) {
      Tensor in = batch.request(i).input("IN");
      values.add(in.intAt(0));
      batch.request(i).output("OUT", in);
    }
    batches.add(values);
  }

  private ModelSpec.Builder model() {
    return ModelSpec.builder("m")
        .backend(gathering)
        .inline(false)
        .maxBatchSize(16)
        .input("IN", DataType.INT32, 2)
        .output("OUT", DataType.INT32, 2)
        .dynamicBatching(DynamicBatching.create());
  }

  private static InferRequest request(Model model, int value, String user) {
    InferRequest request =
        model.newRequest().input("IN", Tensor.ofInts(new int[] {value, value}, 1, 2));
    return user == null ? request : request.parameter("user", user);
  }

  /** Has these requests wait together, and executes them. */
  private void run(Model model, List<Integer> values, List<String> users) throws Exception {
    List<InferRequest> requests = new ArrayList<>();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      InferRequest request = request(model, values.get(i), users.get(i));
      requests.add(request);
      answers.add(request.inferAsync());
      if (i == 0) {
        assertTrue(entered.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      }
    }
    permits.release(values.size());
    for (int i = 0; i < values.size(); i++) {
      try (var response = answers.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        assertEquals(values.get(i), response.output("OUT").intAt(0));
      }
      requests.get(i).close();
    }
  }

  @Test
  void requestsOfOneUserGoTogether() throws Exception {
    Model model = nereid.load(model().batcher(new ByUser()).build());
    run(model, List.of(0, 1, 2, 3, 4, 5, 6), Arrays.asList("x", "a", "a", "b", "b", "b", null));
    assertEquals(List.of(List.of(0), List.of(1, 2), List.of(3, 4, 5), List.of(6)), batches);
  }

  @Test
  void aBatchHasSoMuchAtMost() throws Exception {
    Batcher upToSix =
        (chosen, next) -> {
          long sum = next.elementCount("IN");
          for (WaitingRequest request : chosen) {
            sum += request.elementCount("IN");
          }
          return sum <= 6;
        };
    Model model = nereid.load(model().batcher(upToSix).build());
    run(
        model,
        List.of(0, 1, 2, 3, 4, 5, 6, 7),
        Arrays.asList(null, null, null, null, null, null, null, null));
    assertEquals(List.of(List.of(0), List.of(1, 2, 3), List.of(4, 5, 6), List.of(7)), batches);
  }

  @Test
  void aBatcherSeesWhatTheRequestHolds() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    List<WaitingRequest> kept = new CopyOnWriteArrayList<>();
    Batcher looking =
        (chosen, next) -> {
          kept.add(next);
          seen.add(
              chosen.size()
                  + " "
                  + chosen.getFirst().id()
                  + " "
                  + next.id()
                  + " "
                  + next.rows()
                  + " "
                  + Arrays.toString(next.inputShape("IN"))
                  + " "
                  + next.hasInput("IN")
                  + " "
                  + next.priority()
                  + " "
                  + (next.deadlineNs() > System.nanoTime()));
          return true;
        };
    Model model = nereid.load(model().batcher(looking).build());
    try (var first = request(model, 0, null);
        var second = request(model, 1, null).id("second");
        var third =
            request(model, 2, null).id("third").priority(2).deadline(Duration.ofMinutes(5))) {
      List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
      answers.add(first.inferAsync());
      assertTrue(entered.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      answers.add(second.inferAsync());
      answers.add(third.inferAsync());
      permits.release(3);
      for (CompletableFuture<InferResponse> answer : answers) {
        answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
      }
    }
    assertEquals(List.of("1 Optional[second] Optional[third] 1 [1, 2] true 2 true"), seen);
    assertThrows(IllegalStateException.class, () -> kept.getFirst().rows());
    assertThrows(IllegalStateException.class, () -> kept.getFirst().parameters());
    assertEquals(Optional.of(looking), model.spec().batcher());
  }

  @Test
  void anExceptionOfABatcherIsANo() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Batcher failing =
        (chosen, next) -> {
          asked.incrementAndGet();
          throw new IllegalStateException("who knows");
        };
    Model model = nereid.load(model().batcher(failing).build());
    run(model, List.of(0, 1, 2), Arrays.asList(null, null, null));
    assertEquals(List.of(List.of(0), List.of(1), List.of(2)), batches);
    assertTrue(asked.get() > 0);
  }

  @Test
  void aBatcherIsFoundByItsName() throws Exception {
    Model model = nereid.load(model().batcher(ByUser.class.getName()).build());
    run(model, List.of(0, 1, 2), Arrays.asList("x", "a", "b"));
    assertEquals(List.of(List.of(0), List.of(1), List.of(2)), batches);
    assertFails(
        StatusCode.NOT_FOUND,
        "unknown batcher 'nobody' of model 'm': it is neither the name of an announced Java "
            + "batcher, nor a class",
        () -> nereid.load(model().batcher("nobody").build()));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "class java.lang.String cannot be the batcher of model 'm': class java.lang.String",
        () -> nereid.load(model().batcher("java.lang.String").build()));
  }

  @Test
  void aBatcherIsFoundByTheNameItIsAnnouncedWith() throws Exception {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(services.resolve(Batcher.class.getName()), ByUser.class.getName());
    assertFails(StatusCode.NOT_FOUND, () -> nereid.load(model().batcher("by-user").build()));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (PluginLoader plugin = new PluginLoader(directory, ByUser.class.getName())) {
      thread.setContextClassLoader(plugin);
      Model model = nereid.load(model().batcher("by-user").build());
      run(model, List.of(0, 1, 2, 3), Arrays.asList("x", "a", "a", "b"));
    } finally {
      thread.setContextClassLoader(before);
    }
    assertEquals(List.of(List.of(0), List.of(1, 2), List.of(3)), batches);
  }

  @Test
  void aConfigurationNamesIt() throws IOException {
    RepositoryFixture files = new RepositoryFixture(directory);
    String batcher =
        "parameters { key: \"nereid.batcher\" value { string_value: \""
            + ByUser.class.getName()
            + "\" } }\n";
    files.model("m", RepositoryFixture.BATCHING + "dynamic_batching { }\n" + batcher, 1);
    try (Nereid own = Nereid.open(directory)) {
      Model model = own.model("m");
      assertEquals(ByUser.class.getName(), model.spec().batcherName());
      roundTrip(model, 3);
      assertTrue(model.configuration().toText().contains("nereid.batcher"));
    }
  }

  @Test
  void itNeedsBatches() {
    ModelSpec alone =
        ModelSpec.builder("m")
            .backend(gathering)
            .input("IN", DataType.INT32, 2)
            .output("OUT", DataType.INT32, 2)
            .batcher(new ByUser())
            .build();
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "a batcher says which requests share a batch, so the model needs dynamic_batching or "
            + "sequence_batching by the oldest strategy",
        () -> nereid.load(alone));
    nereid.load(model().build());
    ModelSpec ensemble =
        ModelSpec.builder("e")
            .input("IN", DataType.FP32, 4)
            .output("OUT", DataType.FP32, 4)
            .batcher(new ByUser())
            .ensemble(EnsembleTest.chain("a"))
            .build();
    nereid.load(identity("a").build());
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "ensemble 'e' cannot have a batcher: its steps' models batch",
        () -> nereid.load(ensemble));
  }
}
