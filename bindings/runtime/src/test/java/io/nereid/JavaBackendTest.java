package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.fixtures.NegatingBackend;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backends written in Java: what they are given, and what their mistakes lead to. */
class JavaBackendTest extends RuntimeTest {

  /** Does one thing in place of executing, then what it should. */
  private Model sometimes(AtomicReference<BackendInstance> action) {
    return nereid.load(
        identity("m")
            .backend(context ->
                batch -> {
                  BackendInstance now = action.getAndSet(null);
                  if (now == null) {
                    batch.output("OUT", batch.input("IN"));
                  } else {
                    now.execute(batch);
                  }
                })
            .build());
  }

  private void assertBatchFails(StatusCode code, String part, BackendInstance action) {
    AtomicReference<BackendInstance> next = new AtomicReference<>(action);
    Model model = sometimes(next);
    try (var request = model.newRequest().input("IN", row(1))) {
      NereidException e = assertFails(code, request::infer);
      assertTrue(e.getMessage().contains(part), e.getMessage());
    }
    roundTrip(model, 2);
    assertEquals(1, model.statistics().failBackend());
  }

  @Test
  void anExceptionFailsTheBatchAndNothingElse() {
    assertBatchFails(
        StatusCode.INTERNAL,
        "broken",
        batch -> {
          throw new QuietException("broken");
        });
    assertBatchFails(
        StatusCode.UNAVAILABLE,
        "try later",
        batch -> {
          throw new NereidException(StatusCode.UNAVAILABLE, "try later");
        });
    assertBatchFails(
        StatusCode.INTERNAL,
        "AssertionError",
        batch -> {
          throw new AssertionError(null, null);
        });
    assertBatchFails(StatusCode.INTERNAL, "StackOverflowError", JavaBackendTest::recurse);
    assertBatchFails(
        StatusCode.INTERNAL,
        "",
        batch -> {
          throw new BadToString();
        });
    assertBatchFails(
        StatusCode.INTERNAL,
        "long",
        batch -> {
          throw new NereidException(StatusCode.INTERNAL, "a long message: " + "ü".repeat(2000));
        });
  }

  private static void recurse(Batch batch) throws Exception {
    recurse(batch);
  }

  private static final class BadToString extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      throw new QuietException("not even this");
    }
  }

  @Test
  void nonsenseFailsTheBatchWithAReason() {
    assertBatchFails(StatusCode.INTERNAL, "OUT", batch -> {});
    assertBatchFails(StatusCode.INTERNAL, "", batch -> batch.output("OUT", batch.size() + 1, 4));
    assertBatchFails(StatusCode.INTERNAL, "", batch -> batch.output("OUT", batch.size(), 5));
    assertBatchFails(StatusCode.INVALID_ARGUMENT, "negative", batch -> batch.output("OUT", -1, 4));
    assertBatchFails(
        StatusCode.INVALID_ARGUMENT, "nonsense", batch -> batch.output("nonsense", 1, 4));
    assertBatchFails(StatusCode.INTERNAL, "IndexOutOfBounds", batch -> batch.output(7, 1, 4));
    assertBatchFails(StatusCode.INTERNAL, "IndexOutOfBounds", batch -> batch.input(7));
    assertBatchFails(StatusCode.INTERNAL, "IndexOutOfBounds", batch -> batch.request(1));
    assertBatchFails(
        StatusCode.INTERNAL, "", batch -> batch.bytesOutput("OUT", 3, batch.size(), 4));
    assertBatchFails(
        StatusCode.INTERNAL, "read-only", batch -> batch.input("IN").segment().fill((byte) 0));
  }

  @Test
  void aBatchEndsWithItsExecution() {
    AtomicReference<Batch> kept = new AtomicReference<>();
    AtomicReference<Tensor> input = new AtomicReference<>();
    AtomicReference<BackendInstance> action =
        new AtomicReference<>(batch -> {
          kept.set(batch);
          input.set(batch.input("IN"));
          batch.output("OUT", batch.input("IN"));
        });
    roundTrip(sometimes(action), 1);
    Batch batch = kept.get();
    assertClosed(() -> batch.input("IN"));
    assertClosed(() -> batch.output("OUT", 1, 4));
    assertClosed(() -> batch.request(0));
    assertClosed(() -> batch.fail(0, StatusCode.INTERNAL, "too late"));
    assertClosed(batch::size);
    assertClosed(() -> input.get().floatAt(0));
  }

  @Test
  void loadingFailsWithTheBackendsReason() {
    NereidException thrown =
        assertFails(
            StatusCode.INTERNAL,
            () ->
                nereid.load(
                    identity("m")
                        .backend(context -> {
                          throw new QuietException("no weights");
                        })
                        .build()));
    assertTrue(thrown.getMessage().contains("no weights"), thrown.getMessage());
    assertFails(
        StatusCode.INTERNAL, () -> nereid.load(identity("m").backend(context -> null).build()));
  }

  @Test
  void instancesAreOpenedAndClosedOnceOnTheirOwnThread() {
    List<String> opened = new CopyOnWriteArrayList<>();
    List<String> closed = new CopyOnWriteArrayList<>();
    Backend backend =
        context -> {
          opened.add(context.instanceIndex() + " on " + Thread.currentThread().threadId());
          return new BackendInstance() {
            @Override
            public void execute(Batch batch) {
              batch.output("OUT", batch.input("IN"));
            }

            @Override
            public void close() {
              closed.add(context.instanceIndex() + " on " + Thread.currentThread().threadId());
              throw new QuietException("a backend that cannot close");
            }
          };
        };
    Model model = nereid.load(identity("m").backend(backend).instanceCount(3).build());
    assertEquals(3, opened.size());
    roundTrip(model, 1);
    model.unload();
    assertEquals(opened.stream().sorted().toList(), closed.stream().sorted().toList());
  }

  @Test
  void aBackendCanInsistOnItsThread() {
    AtomicReference<Thread> opener = new AtomicReference<>();
    Backend backend =
        new Backend() {
          @Override
          public BackendInstance open(ModelContext context) {
            opener.set(Thread.currentThread());
            return batch -> {
              assertSame(opener.get(), Thread.currentThread());
              batch.output("OUT", batch.input("IN"));
            };
          }

          @Override
          public boolean ownThread() {
            return true;
          }
        };
    Model model = nereid.load(identity("m").backend(backend).build());
    for (int i = 0; i < 10; i++) {
      roundTrip(model, i);
    }
    assertEquals(0, model.statistics().inlineCount());
  }

  @Test
  void requestsOfABatchAreSeenOneByOne() throws Exception {
    GateBackend gate = new GateBackend();
    List<String> seen = new CopyOnWriteArrayList<>();
    Backend backend =
        context -> {
          BackendInstance wait = gate.open(context);
          return batch -> {
            wait.execute(batch);
            for (int i = 0; i < batch.requestCount(); i++) {
              BatchRequest request = batch.request(i);
              seen.add(
                  request.id().orElse("-")
                      + " "
                      + request.parameters().get("p")
                      + " "
                      + request.firstRow()
                      + "+"
                      + request.rows());
              assertTrue(request.hasInput("IN"));
            }
            if (batch.requestCount() == 3) {
              batch.fail(1, StatusCode.FAILED_PRECONDITION, "not this one");
            }
          };
        };
    Model model =
        nereid.load(
            gate.model("m").backend(backend).dynamicBatching(DynamicBatching.create()).build());
    try (var first = model.newRequest().input("IN", row(0));
        var a = model.newRequest().input("IN", row(1)).id("a").parameter("p", 1);
        var b = model.newRequest().input("IN", floats(2, 0, 0, 0, 3, 0, 0, 0)).id("b");
        var c = model.newRequest().input("IN", row(4)).parameter("p", "x")) {
      var zero = first.inferAsync();
      gate.awaitBatch();
      var one = a.inferAsync();
      var two = b.inferAsync();
      var three = c.inferAsync();
      gate.open(2);
      zero.get().close();
      one.get().close();
      Throwable failed = assertThrows(Exception.class, two::get).getCause();
      assertEquals("not this one", failed.getMessage());
      assertEquals(StatusCode.FAILED_PRECONDITION, ((NereidException) failed).code());
      try (InferResponse response = three.get()) {
        assertEquals(4f, response.output("OUT").floatAt(0));
        assertEquals(4, response.executedBatchSize());
      }
    }
    assertEquals(List.of("- null 0+1", "a 1 0+1", "b null 1+2", "- x 3+1"), seen);
  }

  @Test
  void outputsCanBeMadeForEachRequest() {
    Model model =
        nereid.load(
            ModelSpec.builder("m")
                .backend(context ->
                    batch -> {
                      for (int i = 0; i < batch.requestCount(); i++) {
                        String name = batch.request(i).input("IN").stringAt(0);
                        batch
                            .request(i)
                            .output("OUT", Tensor.ofStrings(new String[] {"hi " + name}, 1, 1));
                      }
                    })
                .maxBatchSize(4)
                .input("IN", DataType.BYTES, 1)
                .output("OUT", DataType.BYTES, 1)
                .build());
    try (var request =
            model.newRequest().input("IN", Tensor.ofStrings(new String[] {"you"}, 1, 1));
        var response = request.infer()) {
      assertEquals("hi you", response.output("OUT").stringAt(0));
    }
  }

  @Test
  void unwantedOutputsMayBeLeftOut() {
    Model model =
        nereid.load(
            InferTest.twoOutputs()
                .backend(context ->
                    batch -> {
                      for (String name : List.of("X", "Y")) {
                        if (batch.wantsOutput(name)) {
                          batch.output(name, batch.input("A"));
                        }
                      }
                    })
                .build());
    try (var request = model.newRequest().input("A", row(1)).input("B", row(2)).output("X");
        var response = request.infer()) {
      assertEquals(List.of("X"), response.outputNames());
    }
  }

  @Test
  void aBackendMayUseOtherModels() {
    Model inner = nereid.load(identity("inner").build());
    Model outer =
        nereid.load(
            identity("outer")
                .backend(context ->
                    batch -> {
                      try (var request = inner.newRequest().input("IN", batch.input("IN"));
                          var response = request.infer()) {
                        batch.output("OUT", response.output("OUT"));
                      }
                    })
                .build());
    for (int i = 0; i < 10; i++) {
      roundTrip(outer, i);
    }
    assertEquals(10, inner.statistics().success().count());
  }

  @Test
  void aBackendSeesTheModelsSettings() {
    AtomicReference<ModelContext> seen = new AtomicReference<>();
    nereid.load(
        identity("m")
            .parameter("weights", "w.bin")
            .backend(context -> {
              seen.set(context);
              return batch -> batch.output("OUT", batch.input("IN"));
            })
            .build());
    assertEquals(Map.of("weights", "w.bin"), seen.get().spec().parameters());
  }

  @Test
  void backendsAreFoundByClassName() {
    Model model = nereid.load(identity("m").backend(NegatingBackend.class.getName()).build());
    assertNegates(model);
  }

  private static void assertNegates(Model model) {
    try (var request = model.newRequest().input("IN", row(5));
        var response = request.infer()) {
      assertEquals(-5f, response.output("OUT").floatAt(0));
    }
  }

  @Test
  void backendsAreFoundByTheNameTheyAreAnnouncedWith(@TempDir Path directory) throws Exception {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    // One that is announced and not there must not stand in the way of others.
    Files.writeString(
        services.resolve(Backend.class.getName()),
        "no.such.Backend\n" + NegatingBackend.class.getName());
    assertFails(StatusCode.NOT_FOUND, () -> nereid.load(identity("m").backend("negating").build()));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (PluginLoader plugin = new PluginLoader(directory, NegatingBackend.class.getName())) {
      thread.setContextClassLoader(plugin);
      assertNegates(nereid.load(identity("m").backend("negating").build()));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void anErrorWhileABackendIsAskedIsTheModelsFailure() {
    Backend broken =
        new Backend() {
          @Override
          public BackendInstance open(ModelContext context) {
            return batch -> batch.output("OUT", batch.input("IN"));
          }

          @Override
          public List<Integer> devices() {
            throw new NoClassDefFoundError("gpu.Driver");
          }
        };
    NereidException e =
        assertFails(StatusCode.INTERNAL, () -> nereid.load(identity("m").backend(broken).build()));
    assertEquals("the model could not be loaded: gpu.Driver", e.getMessage());
    assertEquals(ModelState.FAILED, nereid.models().getFirst().state());
  }

  @Test
  void aBackendReadsMemoryOfItsSendersInPlace() {
    AtomicReference<MemorySegment> seen = new AtomicReference<>();
    AtomicReference<BackendInstance> action =
        new AtomicReference<>(batch -> {
          seen.set(batch.input("IN").segment());
          batch.output("OUT", batch.input("IN"));
        });
    Model model = sometimes(action);
    MemorySegment memory = Arena.ofAuto().allocate(16, 8);
    try (var request = model.newRequest().input("IN", Tensor.of(DataType.FP32, memory, 1, 4))) {
      request.infer().close();
    }
    assertEquals(memory.address(), seen.get().address());
    assertTrue(seen.get().isReadOnly());
    assertEquals(memory.scope(), seen.get().scope());
  }
}
