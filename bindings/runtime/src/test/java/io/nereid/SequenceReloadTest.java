package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model.Sequence;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceId;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Sequences that run during a reload end at the load where they began. */
class SequenceReloadTest extends RuntimeTest {

  private final List<ModelEvent> events = new CopyOnWriteArrayList<>();

  /** Adds up, beginning with a number by which the load is known. */
  private static ModelSpec.Builder adder(String name, int first) {
    return adder(name, first, Duration.ofHours(1));
  }

  private static ModelSpec.Builder adder(String name, int first, Duration maxIdle) {
    return ModelSpec.builder(name)
        .backend(context ->
            batch -> {
              Tensor state = batch.input("STATE");
              Tensor out = batch.output("OUT", state.shape());
              Tensor next = batch.output("NEXT", state.shape());
              for (int i = 0; i < batch.requestCount(); i++) {
                int row = (int) batch.request(i).firstRow();
                int before = batch.request(i).isSequenceStart() ? first : state.intAt(row);
                int sum = before + batch.input("IN").intAt(row);
                out.segment().setAtIndex(ValueLayout.JAVA_INT, row, sum);
                next.segment().setAtIndex(ValueLayout.JAVA_INT, row, sum);
              }
            })
        .maxBatchSize(2)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .sequenceBatching(
            SequenceBatching.direct()
                .withMaxIdle(maxIdle)
                .withState(State.of("STATE", "NEXT", DataType.INT32, 1)));
  }

  private static Tensor one() {
    return Tensor.ofInts(new int[] {1}, 1, 1);
  }

  private static int next(Sequence sequence) {
    return SequenceTest.infer(sequence.newRequest().input("IN", one()));
  }

  private static int last(Sequence sequence) {
    return SequenceTest.infer(sequence.lastRequest().input("IN", one()));
  }

  private boolean wasReplaced(String model) {
    return events.contains(new ModelEvent.Replaced(model, 1));
  }

  /** Loads it anew, which does not end before the sequences of what was there have. */
  private Thread reload(ModelSpec.Builder model) {
    long loads = ready();
    Thread thread = Thread.ofVirtual().start(() -> nereid.load(model.build()));
    await(() -> ready() > loads, "the new load");
    return thread;
  }

  private long ready() {
    return events.stream().filter(ModelEvent.Ready.class::isInstance).count();
  }

  @Test
  void sequencesEndWhereTheyBegan() throws Exception {
    nereid.addListener(events::add);
    Model model = nereid.load(adder("m", 100).build());
    Sequence old = model.sequence(1);
    Sequence older = model.sequence(2);
    assertEquals(101, next(old));
    assertEquals(101, next(older));
    InferRequest early = model.newRequest().input("IN", one());
    Thread reload = reload(adder("m", 200));
    Sequence fresh = model.sequence(3);
    assertEquals(201, next(fresh));
    assertEquals(102, next(old));
    assertEquals(103, last(old));
    assertEquals(202, next(fresh));
    assertEquals(102, last(older));
    // It was made for the old load, and starts a sequence: that is for the new one.
    assertEquals(201, SequenceTest.infer(early.sequence(SequenceId.of(4)).sequenceStart(true)));
    reload.join();
    assertTrue(wasReplaced("m"));
    assertEquals(203, last(fresh));
  }

  /** All that a request has goes along, and it is sent once. */
  @Test
  void aRequestThatIsMovedHasAllThatItHad() throws Exception {
    nereid.addListener(events::add);
    Model model = nereid.load(adder("m", 100).build());
    Sequence old = model.sequence("a name");
    assertEquals(101, next(old));
    Thread reload = reload(adder("m", 200));
    MemorySegment lent = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_INT, 5);
    InferRequest request =
        old.newRequest()
            .input("IN", Tensor.of(DataType.INT32, lent, 1, 1))
            .output("OUT")
            .id("its id")
            .deadline(PATIENCE);
    try (InferResponse response = request.infer()) {
      assertEquals(106, response.output("OUT").intAt(0));
      assertEquals("its id", response.id().orElseThrow());
    }
    assertClosed(request::infer);
    assertClosed(() -> request.id("another"));
    assertFalse(request.cancel());
    request.close();
    InferRequest allocated = old.lastRequest();
    allocated.allocateInput("IN", 1, 1).segment().setAtIndex(ValueLayout.JAVA_INT, 0, 7);
    try (allocated;
        InferResponse response = allocated.inferAsync().join()) {
      assertEquals(113, response.output("OUT").intAt(0));
    }
    reload.join();
  }

  @Test
  void aSequenceThatStartsAgainGoesToTheNewLoad() throws Exception {
    nereid.addListener(events::add);
    Model model = nereid.load(adder("m", 100, Duration.ofMillis(50)).build());
    SequenceId id = SequenceId.of(7);
    assertEquals(101, SequenceTest.infer(request(model, id).sequenceStart(true)));
    Thread reload = reload(adder("m", 200));
    assertEquals(201, SequenceTest.infer(request(model, id).sequenceStart(true)));
    assertEquals(202, SequenceTest.infer(request(model, id)));
    reload.join(); // the old one has ended by its idle time
    assertEquals(203, SequenceTest.infer(request(model, id).sequenceEnd(true)));
  }

  private static InferRequest request(Model model, SequenceId id) {
    return model.newRequest().input("IN", one()).sequence(id);
  }

  /** Unloading ends sequences: there is nothing that could take their requests. */
  @Test
  void unloadingEndsThem() {
    Model model = nereid.load(adder("m", 100).build());
    Sequence sequence = model.sequence(1);
    assertEquals(101, next(sequence));
    model.unload();
    assertFails(StatusCode.UNAVAILABLE, () -> next(sequence));
  }

  /** Sequences begin and end all the time, while the model is loaded again and again. */
  @Test
  void noSequenceNoticesAReload() throws Exception {
    Model model = nereid.load(adder("m", 1_000).instanceCount(2).build());
    AtomicBoolean stopped = new AtomicBoolean();
    AtomicInteger done = new AtomicInteger();
    List<String> faults = new CopyOnWriteArrayList<>();
    List<Thread> clients = new ArrayList<>();
    for (int client = 1; client <= 12; client++) {
      int number = client;
      clients.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int i = 0; !stopped.get() && faults.isEmpty(); i++) {
                  try (Sequence sequence = model.sequence("client " + number + ", " + i)) {
                    int first = next(sequence);
                    int second = next(sequence);
                    int third = last(sequence);
                    if (first % 1_000 != 1 || second != first + 1 || third != first + 2) {
                      faults.add(sequence + ": " + first + ", " + second + ", " + third);
                    }
                    done.incrementAndGet();
                    // Inline requests never give the carrier back, and the others would end by idle
                    // time.
                    Thread.yield();
                  } catch (RuntimeException e) {
                    faults.add("" + e);
                  }
                }
              }));
    }
    for (int load = 2; load <= 10; load++) {
      int before = done.get();
      await(() -> done.get() > before + 12 || !faults.isEmpty(), "some sequences");
      nereid.load(adder("m", 1_000 * load).instanceCount(2).build());
    }
    stopped.set(true);
    for (Thread client : clients) {
      client.join();
    }
    assertEquals(List.of(), faults);
    assertEquals(0, model.statistics().sequences().orElseThrow().active());
  }

  // ---- Ensembles -------------------------------------------------------------------------------

  private static ModelSpec.Builder ensemble() {
    return ModelSpec.builder("e")
        .maxBatchSize(2)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .ensemble(
            new Ensemble(
                List.of(
                    new Ensemble.Step(
                        "m", OptionalLong.empty(), Map.of("IN", "IN"), Map.of("OUT", "OUT")))));
  }

  @Test
  void throughAnEnsembleAsWell() throws Exception {
    nereid.addListener(events::add);
    nereid.load(adder("m", 100).build());
    Model model = nereid.load(ensemble().build());
    Sequence old = model.sequence(1);
    assertEquals(101, next(old));
    Thread reload = reload(adder("m", 200));
    await(() -> ready() == 4, "the ensemble's new load");
    Sequence fresh = model.sequence(2);
    assertEquals(201, next(fresh));
    assertEquals(102, next(old));
    assertEquals(103, last(old));
    reload.join();
    assertTrue(wasReplaced("m") && wasReplaced("e"));
    assertEquals(202, last(fresh));
  }

  /** The ensemble alone is loaded anew: its step goes on with the same sequences. */
  @Test
  void stepsThatStayKeepTheirSequences() {
    nereid.load(adder("m", 100).build());
    Model model = nereid.load(ensemble().build());
    Sequence sequence = model.sequence(1);
    assertEquals(101, next(sequence));
    nereid.load(ensemble().build());
    assertEquals(102, next(sequence));
    assertEquals(103, last(sequence));
  }
}
