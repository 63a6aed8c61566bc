package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.HostPolicy;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.model.ResourceCount;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.ResourceStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Resources that executions of several models share, and the processors of their threads. */
class SharedResourcesTest {

  private static InstanceGroup group(String hostPolicy, InstanceGroup.Resource... resources) {
    return new InstanceGroup(
        "",
        InstanceGroup.Kind.CPU,
        1,
        List.of(),
        List.of(),
        new InstanceGroup.RateLimiter(List.of(resources), 1),
        hostPolicy);
  }

  private static InstanceGroup.Resource perDevice(String name, int count) {
    return new InstanceGroup.Resource(name, false, count);
  }

  private static ModelSpec.Builder model(String name, InstanceGroup group) {
    return ModelSpec.builder(name)
        .instances(group)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1);
  }

  private static int infer(Model model, int value) {
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[] {value}, 1));
        var response = request.infer()) {
      return response.output("OUT").toIntArray()[0];
    }
  }

  private static CompletableFuture<Integer> onThread(Model model, int value) {
    return CompletableFuture.supplyAsync(() -> infer(model, value), Thread.ofPlatform()::start);
  }

  /** A model whose executions end when a permit comes, one that shares with it, and one request. */
  private static void withOneAtWork(NereidOptions options, Work work) throws Exception {
    Semaphore entered = new Semaphore(0);
    Semaphore permits = new Semaphore(0);
    try (Nereid nereid = Nereid.create(options)) {
      Model busy =
          nereid.load(
              model("busy", group("", perDevice("R1", 4)))
                  .backend(context ->
                      batch -> {
                        entered.release();
                        permits.acquire();
                        batch.output("OUT", batch.input("IN"));
                      })
                  .build());
      Model other =
          nereid.load(model("other", group("", perDevice("R1", 3))).backend("identity").build());
      CompletableFuture<Integer> first = onThread(busy, 1);
      entered.acquire();
      try {
        work.run(nereid, other, permits);
      } finally {
        permits.release();
      }
      assertEquals(1, first.get());
    }
  }

  private interface Work {
    void run(Nereid nereid, Model other, Semaphore permits) throws Exception;
  }

  @Test
  void executionsWaitForWhatOthersHoldAndSayForWhat() throws Exception {
    NereidOptions options =
        NereidOptions.builder()
            .rateLimit(true)
            .resource(new ResourceCount("R1", 6, OptionalInt.empty()))
            .build();
    withOneAtWork(
        options,
        (nereid, other, permits) -> {
          CompletableFuture<Integer> second = onThread(other, 2);
          InstanceStatistics waiting = other.instanceStatistics().getFirst();
          while (waiting.awaited().isEmpty()) {
            Thread.onSpinWait();
            waiting = other.instanceStatistics().getFirst();
          }
          assertEquals("waits for R1, 2 of 6 free, 3 needed", waiting.text());
          assertFalse(waiting.holds());
          assertEquals(
              List.of(new ResourceStatistics("R1", OptionalInt.of(0), 6, 2, 1)),
              nereid.resourceStatistics());
          assertFalse(second.isDone());
          assertEquals("executes", nereid.model("busy").instanceStatistics().getFirst().text());
          permits.release();
          assertEquals(2, second.get());
        });
  }

  @Test
  void withoutALimitNobodyWaits() throws Exception {
    withOneAtWork(
        NereidOptions.DEFAULT,
        (nereid, other, permits) -> {
          assertEquals(2, infer(other, 2));
          assertEquals(List.of(), nereid.resourceStatistics());
          assertEquals("idle", other.instanceStatistics().getFirst().text());
          permits.release();
        });
  }

  @Test
  void aNeedThatCanNeverBeMetFailsTheLoad() {
    NereidOptions options =
        NereidOptions.builder()
            .rateLimit(true)
            .resource(new ResourceCount("R1", 2, OptionalInt.of(0)))
            .build();
    try (Nereid nereid = Nereid.create(options)) {
      ModelSpec spec = model("m", group("", perDevice("R1", 3))).backend("identity").build();
      NereidException failure = assertThrows(NereidException.class, () -> nereid.load(spec));
      assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
      assertTrue(
          failure
              .getMessage()
              .contains(
                  "Resource count for \"R1\" is limited to 2 which will prevent scheduling of one"
                      + " or more model instances, the minimum required count is 3"),
          failure.getMessage());
      assertEquals(List.of(), nereid.resourceStatistics());
    }
  }

  private static String allowedCores() throws Exception {
    return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
        .filter(line -> line.startsWith("Cpus_allowed_list:"))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void threadsRunWhereTheirPolicySays() throws Exception {
    String allowed = allowedCores();
    int last = Integer.parseInt(allowed.replaceAll(".*[-,]", ""));
    NereidOptions options =
        NereidOptions.builder()
            .hostPolicy("cpu", new HostPolicy(OptionalInt.empty(), List.of(last)))
            .hostPolicy("beyond", new HostPolicy(OptionalInt.empty(), List.of(1023)))
            .build();
    AtomicReference<String> seen = new AtomicReference<>();
    try (Nereid nereid = Nereid.create(options)) {
      // Its group names no policy; a name that nobody has set means nothing.
      for (String policy : List.of("", "unknown")) {
        Model model =
            nereid.load(
                model("m", group(policy))
                    .backend(context ->
                        batch -> {
                          seen.set(allowedCores());
                          batch.output("OUT", batch.input("IN"));
                        })
                    .build());
        assertEquals(5, infer(model, 5));
        assertEquals(policy.isEmpty() ? Integer.toString(last) : allowed, seen.get());
        model.unload();
      }
      ModelSpec spec = model("n", group("beyond")).backend("identity").build();
      NereidException failure = assertThrows(NereidException.class, () -> nereid.load(spec));
      assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
      assertTrue(
          failure.getMessage().contains("the host policy names core 1023, which the machine"),
          failure.getMessage());
    }
  }
}
