package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Features of backends for devices: batches side by side, and inputs request by request. */
class DeviceBackendTest extends RuntimeTest {

  /** Copies inputs to outputs itself, request by request. */
  private static class Gathering implements Backend {

    final AtomicInteger requests = new AtomicInteger();
    final CountDownLatch first = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);

    @Override
    public boolean gathers() {
      return true;
    }

    @Override
    public BackendInstance open(ModelContext context) {
      return this::execute;
    }

    private void execute(Batch batch) throws InterruptedException {
      first.countDown();
      assertTrue(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      requests.set(Math.max(requests.get(), batch.requestCount()));
      assertClosed(() -> batch.input("IN"));
      Tensor whole = batch.output("OUT", batch.size(), 4);
      long offset = 0;
      for (int i = 0; i < batch.requestCount(); i++) {
        Tensor own = batch.request(i).input("IN");
        whole.segment().asSlice(offset, own.byteSize()).copyFrom(own.segment());
        offset += own.byteSize();
      }
    }
  }

  @Test
  void aBackendThatGathersSeesEachRequestAndNoBatch() throws Exception {
    Gathering backend = new Gathering();
    Model model =
        nereid.load(
            identity("m")
                .backend(backend)
                .inline(false)
                .dynamicBatching(DynamicBatching.builder().build())
                .build());
    List<InferRequest> sent = new ArrayList<>();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      InferRequest request = model.newRequest().input("IN", row(i));
      sent.add(request);
      answers.add(request.inferAsync());
      if (i == 0) {
        assertTrue(backend.first.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      }
    }
    backend.go.countDown();
    for (int i = 0; i < 4; i++) {
      try (InferRequest request = sent.get(i);
          InferResponse response = answers.get(i).get()) {
        assertArrayEquals(
            new float[] {i, 2, 3, 4}, response.output("OUT").toFloatArray(), "" + request);
      }
    }
    assertEquals(3, backend.requests.get(), "requests in the batch behind the first");
  }

  /** Executes two batches of one configured instance at a time, or waits in vain. */
  private static final class SideBySide implements Backend {

    final CountDownLatch both = new CountDownLatch(2);
    final AtomicInteger opened = new AtomicInteger();

    @Override
    public int batchesInFlight(ModelSpec spec) {
      return 2;
    }

    @Override
    public BackendInstance open(ModelContext context) {
      opened.incrementAndGet();
      return batch -> {
        both.countDown();
        assertTrue(both.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        batch.output("OUT", batch.input("IN"));
      };
    }
  }

  @Test
  void batchesOfOneInstanceExecuteSideBySide() throws Exception {
    SideBySide backend = new SideBySide();
    Model model = nereid.load(identity("m").backend(backend).inline(false).build());
    assertEquals(2, backend.opened.get());
    try (InferRequest one = model.newRequest().input("IN", row(1));
        InferRequest two = model.newRequest().input("IN", row(2))) {
      CompletableFuture<InferResponse> first = one.inferAsync();
      CompletableFuture<InferResponse> second = two.inferAsync();
      try (InferResponse a = first.get();
          InferResponse b = second.get()) {
        assertEquals(1, a.output("OUT").floatAt(0));
        assertEquals(2, b.output("OUT").floatAt(0));
      }
    }
  }

  /** Tells what its model is, and remembers which loads have ended. */
  public static final class Telling implements Backend {

    static final List<String> CALLS = new ArrayList<>();

    @Override
    public Optional<ModelSignature> describe(ModelSpec spec) {
      CALLS.add("describe " + spec.name());
      List<TensorSpec> tensors = List.of(TensorSpec.of("T", DataType.FP32, 4));
      return Optional.of(new ModelSignature(tensors, tensors, 0));
    }

    @Override
    public void loadEnded(ModelSpec spec) {
      CALLS.add("ended " + spec.name());
    }

    @Override
    public BackendInstance open(ModelContext context) {
      CALLS.add("open " + context.spec().name());
      if (context.spec().name().equals("bad")) {
        throw new NereidException(StatusCode.UNAVAILABLE, "not today");
      }
      return batch -> batch.output("T", batch.input("T"));
    }
  }

  @Test
  void describersAreToldWhenTheLoadHasEnded(@TempDir Path root) throws Exception {
    for (String model : List.of("bad", "good")) {
      Files.createDirectories(root.resolve(model).resolve("1"));
      Files.writeString(
          root.resolve(model).resolve("config.pbtxt"),
          "backend: \"" + Telling.class.getName() + "\"\n");
    }
    Telling.CALLS.clear();
    RepositoryOptions options =
        RepositoryOptions.builder().repository(root).loadThreadCount(1).build();
    try (Nereid own = Nereid.open(options, NereidOptions.DEFAULT)) {
      assertEquals(ModelState.READY, own.model("good").state());
    }
    for (String model : List.of("bad", "good")) {
      assertEquals(
          List.of("describe " + model, "open " + model, "ended " + model),
          Telling.CALLS.stream().filter(call -> call.endsWith(model)).toList());
    }
  }

  @Override
  NereidOptions.Builder options() {
    return super.options().drainTimeout(Duration.ofSeconds(30));
  }
}
