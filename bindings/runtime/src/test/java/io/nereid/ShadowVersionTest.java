package io.nereid;

import static io.nereid.RepositoryFixture.answer;
import static io.nereid.RepositoryFixture.assertFails;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.RequestObserver;
import io.nereid.model.SentRequest;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Versions that are shadows of others: where requests go, and what becomes of promoted ones. */
class ShadowVersionTest {

  private static final String BATCHING = RepositoryFixture.BATCHING;

  /** The class of scheduling whose threads get the time that no others want. */
  private static final int SCHED_IDLE = 5;

  @TempDir private Path root;

  private static String shadowOf(String value) {
    return "parameters { key: \"shadow_of\" value { string_value: \"" + value + "\" } }\n";
  }

  private RepositoryFixture model(String config, int... versions) throws IOException {
    RepositoryFixture repository = new RepositoryFixture(root);
    repository.model("m", config, versions);
    return repository;
  }

  private static ModelSpec.Builder spec(long version) {
    return ModelSpec.builder("m")
        .version(version)
        .backend("identity")
        .input("IN", DataType.FP32, 4)
        .output("OUT", DataType.FP32, 4);
  }

  /** The scheduling classes of the threads that execute a model. */
  private static List<Integer> policies(String model) {
    List<Integer> policies = new ArrayList<>();
    for (String thread : new File("/proc/self/task").list()) {
      String stat;
      try {
        stat = Files.readString(Path.of("/proc/self/task", thread, "stat"));
      } catch (IOException e) {
        continue; // it ends
      }
      if (stat.contains("(nrd-" + model + "-")) {
        String[] behind = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        policies.add(Integer.parseInt(behind[38])); // the 41st field, of which 2 come before
      }
    }
    return policies.stream().sorted().toList();
  }

  @ParameterizedTest
  @CsvSource({"2,", "3=2,", ",3=2", "1,3=2"})
  void aShadowGetsNoRequestsThatNameNoVersion(String parameter, String option) throws Exception {
    RepositoryFixture repository =
        model(BATCHING + (parameter == null ? "" : shadowOf(parameter)), 1, 2, 3);
    var options = repository.options();
    if (option != null) {
      options.shadow("m", 3, 2);
    }
    try (Nereid nereid = Nereid.open(options.build())) {
      assertEquals(List.of("m/2 READY", "m/3 READY"), index(nereid));
      assertEquals(2, nereid.model("m").version());
      assertEquals(OptionalLong.empty(), nereid.model("m").shadowOf());
      assertEquals(OptionalLong.of(2), nereid.model("m", 3).shadowOf());
      assertEquals(7, answer(nereid.model("m", 3), 7), "it answers those that name it");
      nereid.model("m", 2).unload();
      assertFails(StatusCode.NOT_FOUND, "no available versions", () -> nereid.model("m"));
    }
  }

  @Test
  void aShadowExecutesInIdleTimeUntilItIsPromoted() throws Exception {
    RepositoryFixture repository = model(BATCHING + shadowOf("2"), 2, 3);
    try (Nereid nereid = Nereid.open(repository.root())) {
      assertEquals(List.of(0, SCHED_IDLE), policies("m"));
      Model shadow = nereid.model("m", 3);
      answer(shadow, 1);
      assertEquals(0, shadow.statistics().inlineCount(), "its own thread executes");
      shadow.promote();
      assertEquals(OptionalLong.empty(), shadow.shadowOf());
      assertEquals(3, nereid.model("m").version());
      RuntimeTest.await(() -> policies("m").equals(List.of(0, 0)), "the shadow's thread to end");
      assertEquals(List.of("m/2 READY", "m/3 READY"), index(nereid));
    }
  }

  @Test
  void theVersionBeforeCanBePromotedAgain() {
    try (Nereid nereid = Nereid.create()) {
      Model old = nereid.load(spec(2).build());
      Model next = nereid.load(spec(3).parameter("shadow_of", "2").build());
      next.promote();
      assertEquals(3, nereid.model("m").version());
      old.promote();
      assertEquals(2, nereid.model("m").version());
      assertEquals(ModelState.READY, next.state());
      assertEquals(OptionalLong.empty(), next.shadowOf());
      next.promote();
      assertEquals(3, nereid.model("m").version());
      old.promote();
      next.unload();
      nereid.load(spec(3).parameter("shadow_of", "2").build());
      assertEquals(OptionalLong.of(2), next.shadowOf(), "its specification counts again");
      nereid.load(spec(4).build());
      assertEquals(4, nereid.model("m").version(), "as without a promotion");
    }
  }

  @Test
  void aShadowThatCannotBeLoadedAgainStaysOne() {
    AtomicBoolean failing = new AtomicBoolean();
    Backend backend =
        context -> {
          if (failing.get()) {
            throw new IllegalStateException("the file is gone");
          }
          return batch -> batch.output("OUT", batch.input("IN"));
        };
    try (Nereid nereid = Nereid.create()) {
      Model old = nereid.load(spec(1).build());
      Model shadow = nereid.load(spec(2).backend(backend).parameter("shadow_of", "1").build());
      failing.set(true);
      assertFails(StatusCode.INTERNAL, "the file is gone", shadow::promote);
      assertEquals(OptionalLong.of(1), shadow.shadowOf());
      assertEquals(old, nereid.model("m"));
      assertEquals(3, answer(shadow, 3));
      failing.set(false);
      shadow.promote();
      assertEquals(shadow, nereid.model("m"));
    }
  }

  @Test
  void aPromotionBehindALoadKeepsItsConfiguration() throws Exception {
    CountDownLatch opening = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    Backend slow =
        context -> {
          opening.countDown();
          open.await();
          return batch -> batch.output("OUT", batch.input("IN"));
        };
    Failures failures = new Failures();
    try (Nereid nereid = Nereid.create()) {
      nereid.load(spec(1).build());
      Model shadow = nereid.load(spec(2).parameter("shadow_of", "1").build());
      ModelSpec next =
          spec(2).backend(slow).parameter("shadow_of", "1").parameter("is", "new").build();
      Thread loading = failures.startPlatform(() -> nereid.load(next));
      opening.await();
      Thread promoting = failures.startPlatform(shadow::promote);
      RuntimeTest.await(
          () -> promoting.getState() == Thread.State.WAITING, "the promotion to wait");
      open.countDown();
      failures.join(loading, promoting);
      assertEquals(shadow, nereid.model("m"));
      assertEquals("new", shadow.spec().parameters().get("is"));
    }
  }

  @Test
  void anEnsembleFollowsThePromotion() throws Exception {
    RepositoryFixture repository = model(BATCHING + shadowOf("1"), 1, 2);
    repository.model("e", RepositoryFixture.ensemble("m"), 1);
    try (Nereid nereid = Nereid.open(repository.root())) {
      assertEquals(5, answer(nereid.model("e"), 5));
      assertEquals(1, nereid.model("m", 1).statistics().success().count());
      nereid.model("m", 2).promote();
      assertEquals(6, answer(nereid.model("e"), 6));
      assertEquals(1, nereid.model("m", 2).statistics().success().count());
      nereid.model("m", 1).promote();
      assertEquals(7, answer(nereid.model("e"), 7));
      assertEquals(2, nereid.model("m", 1).statistics().success().count());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "two, expected shadow_of \"2\"",
    "2=2, expected shadow_of \"2\"",
    "3=, expected shadow_of \"2\"",
    "0, expected shadow_of \"2\"",
    "1, 'expected shadow_of to name versions of the model, which has [2, 3], got \"1\"'",
    "4=2, 'expected shadow_of to name versions of the model, which has [2, 3], got \"4=2\"'"
  })
  void aParameterThatMakesNoSenseIsRefused(String value, String message) throws Exception {
    RepositoryFixture repository = model(BATCHING + shadowOf(value), 2, 3);
    try (Nereid nereid = Nereid.open(repository.root())) {
      String line = String.join("\n", index(nereid));
      assertTrue(line.contains("UNAVAILABLE: m/config.pbtxt:") && line.contains(message), line);
    }
  }

  @Test
  void modelsThatCannotBeShadowsAreRefusedAndTheirPrimariesServe() throws Exception {
    RepositoryFixture repository =
        model(
            BATCHING
                + shadowOf("1")
                + "sequence_batching { max_sequence_idle_microseconds: 5000000 }\n",
            1,
            2);
    repository.model(
        "d", BATCHING + shadowOf("1") + "model_transaction_policy { decoupled: true }\n", 1, 2);
    repository.model("e", RepositoryFixture.ensemble("i") + shadowOf("1"), 1, 2);
    repository.model(
        "i",
        BATCHING
            + shadowOf("1")
            + "parameters { key: \"isolation\" value { string_value: \"process\" } }\n",
        1,
        2);
    try (Nereid nereid = Nereid.open(repository.root())) {
      String lines = String.join("\n", index(nereid));
      for (String expected :
          List.of(
              "version 2 of model 'm' cannot be a shadow (shadow_of): it has sequences",
              "version 2 of model 'd' cannot be a shadow (shadow_of): it is decoupled",
              "version 2 of model 'e' cannot be a shadow (shadow_of): it is an ensemble",
              "version 2 of model 'i' cannot be a shadow (shadow_of): it runs in a process of its"
                  + " own")) {
        assertTrue(lines.contains(expected), lines);
      }
      for (String name : List.of("m", "d", "e", "i")) {
        assertEquals(1, nereid.model(name).version());
      }
    }
    try (Nereid nereid = Nereid.create()) {
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          "expected shadow_of to name another version of model 'm' than 2, got \"2\"",
          () -> nereid.load(spec(2).parameter("shadow_of", "2").build()));
    }
  }

  // ---- Observers -------------------------------------------------------------------------------

  /** Writes down which versions requests were sent to, and how they ended. */
  private record Notes(List<String> lines) implements RequestObserver {
    @Override
    public Observation begin(SentRequest request) {
      long version = request.model().version();
      return version == 9 ? null : outcome -> lines.add(version + " " + outcome.status());
    }
  }

  @Test
  void severalObserversHearOfTheSameRequestsAndNoneOfThoseToAShadow() {
    try (Nereid nereid = Nereid.create()) {
      Model served = nereid.load(spec(2).build());
      Model shadow = nereid.load(spec(3).parameter("shadow_of", "2").build());
      Model ignored = nereid.load(spec(9).build());
      Notes first = new Notes(new ArrayList<>());
      Notes second = new Notes(new ArrayList<>());
      RequestObserver failing =
          request -> {
            throw new AssertionError("the observer is at fault");
          };
      Runnable endFirst = nereid.observeRequests(first);
      Runnable endFailing = nereid.observeRequests(failing);
      Runnable endSecond = nereid.observeRequests(second);
      answer(served, 1);
      answer(shadow, 1);
      answer(ignored, 1);
      try (var request = served.newRequest().input("IN", Tensor.ofFloats(new float[3], 3))) {
        assertFails(StatusCode.INVALID_ARGUMENT, "IN", request::infer);
      }
      endFirst.run();
      answer(served, 2);
      endFailing.run();
      endSecond.run();
      endSecond.run();
      answer(served, 3);
      assertEquals(List.of("2 OK", "2 INVALID_ARGUMENT"), first.lines);
      assertEquals(List.of("2 OK", "2 INVALID_ARGUMENT", "2 OK"), second.lines);
    }
  }
}
