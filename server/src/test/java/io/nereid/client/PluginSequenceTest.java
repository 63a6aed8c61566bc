package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.model.Batch;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceId;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sequences whose requests a plug-in sends end at the load where they began, also during a reload.
 */
class PluginSequenceTest {

  /** The number that the adder does not add before {@link #goOn}. */
  private static final int HELD = 1000;

  @TempDir private Path directory;
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final List<ModelEvent> events = new CopyOnWriteArrayList<>();
  private PluginFixture plugins;
  private Model caller;

  @BeforeEach
  void start() throws IOException {
    plugins = new PluginFixture(directory).backend("caller");
    plugins.model("caller", "backend: \"caller\" max_batch_size: 8");
    plugins.start(plugins.plugins(), options -> options);
    plugins.server().nereid().addListener(events::add);
    caller = plugins.server().nereid().model("caller");
  }

  @AfterEach
  void stop() {
    plugins.close();
  }

  /** Adds up, beginning with a number by which the load is known. */
  private ModelSpec adder(int first) {
    return ModelSpec.builder("adder")
        .backend(context -> batch -> add(batch, first))
        .instanceCount(2) // each has one sequence at a time
        .input("INPUT0", DataType.INT32, 1)
        .output("OUTPUT0", DataType.INT32, 1)
        .sequenceBatching(
            SequenceBatching.direct()
                .withMaxIdle(Duration.ofHours(1))
                .withState(State.of("STATE", "NEXT", DataType.INT32, 1)))
        .build();
  }

  private void add(Batch batch, int first) {
    if (batch.input("INPUT0").intAt(0) == HELD) {
      begun.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    int before = batch.request(0).isSequenceStart() ? first : batch.input("STATE").intAt(0);
    int sum = before + batch.input("INPUT0").intAt(0);
    for (String output : List.of("OUTPUT0", "NEXT")) {
      batch.output(output, 1).segment().setAtIndex(ValueLayout.JAVA_INT, 0, sum);
    }
  }

  /** Has the plug-in send a request of a sequence to the adder. */
  private int send(long sequence, boolean starts, boolean ends) {
    return send(sequence, starts, ends, 1);
  }

  private int send(long sequence, boolean starts, boolean ends, int number) {
    try (var request =
            caller
                .newRequest()
                .sequence(SequenceId.of(sequence))
                .sequenceStart(starts)
                .sequenceEnd(ends)
                .parameter("do", "call")
                .parameter("target", "adder")
                .input("INPUT0", io.nereid.tensor.Tensor.ofInts(new int[] {number}, 1, 1));
        var response = request.infer()) {
      return response.output("OUTPUT0").intAt(0);
    }
  }

  /** Loads it anew, which does not end before the sequences of what was there have. */
  private Thread reload(int first) {
    long loads = count(ModelEvent.Ready.class);
    Thread thread = Thread.ofVirtual().start(() -> plugins.server().nereid().load(adder(first)));
    ServerFixture.await(() -> count(ModelEvent.Ready.class) > loads);
    return thread;
  }

  private long count(Class<? extends ModelEvent> kind) {
    return events.stream().filter(kind::isInstance).count();
  }

  @Test
  void theyGoOnWhileTheReloadWaitsForThem() throws InterruptedException {
    plugins.server().nereid().load(adder(100));
    assertEquals(101, send(1, true, false));
    assertEquals(101, send(2, true, false));
    Thread reload = reload(200);
    assertEquals(201, send(3, true, false));
    assertEquals(102, send(1, false, false));
    assertEquals(103, send(1, false, true));
    assertEquals(102, send(2, false, false));
    assertTrue(reload.isAlive(), "it waits for the sequence that is left");
    assertEquals(0, count(ModelEvent.Replaced.class));
    assertEquals(103, send(2, false, true));
    reload.join();
    ServerFixture.await(() -> count(ModelEvent.Replaced.class) == 1);
    assertEquals(202, send(3, false, true));
  }

  @Test
  void theReloadWaitsForThemAlsoIfItFindsARequestUnderWay() throws InterruptedException {
    plugins.server().nereid().load(adder(100));
    assertEquals(101, send(1, true, false));
    Thread sender = Thread.ofPlatform().start(() -> send(1, false, false, HELD));
    begun.await();
    Thread reload = reload(200);
    assertFalse(reload.join(Duration.ofMillis(50)), "a request of the sequence is under way");
    goOn.countDown();
    sender.join();
    assertFalse(reload.join(Duration.ofMillis(50)), "the sequence has not ended");
    assertEquals(1102, send(1, false, true));
    reload.join();
    ServerFixture.await(() -> count(ModelEvent.Replaced.class) == 1);
  }

  /** Several loads may have a sequence of the same name, of which the youngest is meant. */
  @Test
  void theyGoToTheYoungestLoadThatHasThem() throws InterruptedException {
    plugins.server().nereid().load(adder(100));
    assertEquals(101, send(1, true, false));
    Thread first = reload(200);
    assertEquals(201, send(1, true, false));
    Thread second = reload(300);
    assertEquals(202, send(1, false, false));
    assertEquals(203, send(1, false, true));
    second.join();
    assertEquals(102, send(1, false, true)); // of the one that was not ended before
    first.join();
    ServerFixture.await(() -> count(ModelEvent.Replaced.class) == 2);
  }
}
