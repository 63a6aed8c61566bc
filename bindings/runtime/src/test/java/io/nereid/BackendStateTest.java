package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.Model.Sequence;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** States in memory of a backend's own. There is no GPU here: addresses are numbers, no more. */
class BackendStateTest extends RuntimeTest {

  private static final int DEVICE = 1;

  /** What lies where. */
  private final Map<Long, Integer> states = new ConcurrentHashMap<>();

  private final AtomicLong lastAddress = new AtomicLong(0x7f00_0000_0000L);

  /** Adds up what a sequence sends; a negative number fails. */
  private final class Adder implements Backend {

    @Override
    public boolean keepsStates() {
      return true;
    }

    @Override
    public void releaseState(DeviceMemory state) {
      assertEquals(DEVICE, state.device());
      states.remove(state.address());
    }

    @Override
    public BackendInstance open(ModelContext context) {
      return this::execute;
    }

    private void execute(Batch batch) {
      assertThrows(IllegalStateException.class, () -> batch.input("STATE"));
      assertArrayEquals(new long[] {batch.size(), 1}, batch.inputShape("STATE"));
      assertFalse(batch.wantsOutput("NEXT"));
      Tensor out = batch.output("OUT", batch.size(), 1);
      for (int i = 0; i < batch.requestCount(); i++) {
        BatchRequest request = batch.request(i);
        int value = request.input("IN").intAt(0);
        int sum = value + found(request);
        long address = lastAddress.addAndGet(64);
        states.put(address, sum);
        request.keepState(0, new DeviceMemory(DEVICE, address, 4), 1, 1);
        out.segment().setAtIndex(ValueLayout.JAVA_INT, (int) request.firstRow(), sum);
        if (value < 0) {
          batch.fail(i, StatusCode.INVALID_ARGUMENT, "negative");
        }
      }
    }

    private int found(BatchRequest request) {
      Optional<DeviceMemory> kept = request.keptState(0);
      assertEquals(kept.isEmpty(), request.isSequenceStart());
      if (kept.isEmpty()) {
        return request.initialState(0).intAt(0);
      }
      assertThrows(IllegalStateException.class, () -> request.initialState(0));
      return states.get(kept.get().address());
    }
  }

  private static int next(Sequence sequence, int value) {
    return SequenceTest.infer(
        sequence.newRequest().input("IN", Tensor.ofInts(new int[] {value}, 1, 1)));
  }

  private ModelSpec adder(DataType type) {
    return ModelSpec.builder("m")
        .backend(new Adder())
        .maxBatchSize(4)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .sequenceBatching(
            SequenceBatching.direct()
                .withMaxIdle(Duration.ofHours(1))
                .withState(State.of("STATE", "NEXT", type, 1)))
        .build();
  }

  @Test
  void stringsAreNotKept() {
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "state 'STATE' is of BYTES, which the backend cannot keep",
        () -> nereid.load(adder(DataType.BYTES)));
  }

  @Test
  void theRuntimeHandsOnWhereTheyLie() {
    Model model = nereid.load(adder(DataType.INT32));
    Sequence one = model.sequence(1);
    Sequence two = model.sequence(2);
    assertEquals(1, next(one, 1));
    assertEquals(10, next(two, 10));
    assertEquals(3, next(one, 2));
    assertEquals(2, states.size());
    assertEquals(8, model.statistics().sequences().orElseThrow().stateBytes());
    assertFails(StatusCode.INVALID_ARGUMENT, () -> next(one, -1));
    assertEquals(6, next(one, 3));
    Tensor last = Tensor.ofInts(new int[] {4}, 1, 1);
    assertEquals(10, SequenceTest.infer(one.lastRequest().input("IN", last)));
    await(() -> states.size() == 1, "the end of the first sequence");
    model.unload();
    assertEquals(0, states.size());
  }
}
