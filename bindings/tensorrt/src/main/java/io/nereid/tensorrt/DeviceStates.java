package io.nereid.tensorrt;

import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The states of sequences that one instance executes. Each is a block of the device's memory, which
 * the device copies into the engine's batch; new states are copied from the batch to blocks, also
 * without the processor. The runtime knows the block of each sequence, and releases blocks that no
 * sequence keeps.
 */
final class DeviceStates implements AutoCloseable {

  /** A state, with its number among the configuration's and that of its output. */
  private record State(int index, Binding input, int output, boolean sameBuffer) {}

  /** The state that the engine computed for one request of the batch. */
  private record Made(int request, int state, DeviceMemory memory, long[] shape, boolean isNew) {}

  private final Bindings bindings;
  private final CudaStream stream;
  private final DevicePool memory;
  private final int device;
  private final List<State> states = new ArrayList<>();

  /** The states with which sequences begin; null: no sequence has begun yet. */
  private final DevicePool.Block[] initials;

  /** The states that the engine computed in this batch and that no sequence keeps so far. */
  private final List<Made> made = new ArrayList<>();

  DeviceStates(ModelSpec spec, Bindings bindings, CudaStream stream, Gpu device) {
    this.bindings = bindings;
    this.stream = stream;
    this.device = device.number();
    memory = DevicePool.of(device);
    List<SequenceBatching.State> all =
        spec.sequenceBatching().map(SequenceBatching::states).orElse(List.of());
    initials = new DevicePool.Block[all.size()];
    for (int i = 0; i < all.size(); i++) {
      SequenceBatching.State state = all.get(i);
      states.add(
          new State(
              i,
              bindings.inputs().get(position(bindings.inputs(), state.input())),
              position(bindings.outputs(), state.output()),
              state.sameBuffer()));
    }
  }

  private static int position(List<Binding> bindings, String name) {
    return bindings.stream().map(binding -> binding.tensor().name()).toList().indexOf(name);
  }

  /** True if this input of the engine is a state, which this class copies. */
  boolean brings(Binding input) {
    for (State state : states) {
      if (state.input == input) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the number of bytes that the initial states occupy, without the states of sequences.
   */
  long deviceBytes() {
    long bytes = 0;
    for (DevicePool.Block initial : initials) {
      bytes += initial == null ? 0 : initial.byteSize();
    }
    return bytes;
  }

  /** Enqueues the copies of the requests' old states. */
  void copyIn(Batch batch) {
    for (State state : states) {
      long address = state.input.address();
      for (int i = 0; i < batch.requestCount(); i++) {
        BatchRequest request = batch.request(i);
        DeviceMemory found =
            request.keptState(state.index).orElseGet(() -> initial(state, request));
        copy(address, found.address(), found.byteSize());
        address += found.byteSize();
      }
    }
  }

  /** Returns the state with which sequences begin; it is copied to the device once. */
  private DeviceMemory initial(State state, BatchRequest request) {
    Tensor initial = request.initialState(state.index);
    if (initials[state.index] == null) {
      DevicePool.Block block =
          memory.allocate(initial.byteSize(), "the first of " + state.input.tensor().title());
      try (Undo undo = new Undo()) {
        undo.add(block::release);
        undo.add(stream::settle);
        stream.copyIn(block.address(), initial.segment().address(), initial.byteSize());
        stream.finish();
        undo.forget();
      }
      initials[state.index] = block;
    }
    return new DeviceMemory(device, initials[state.index].address(), initial.byteSize());
  }

  /** Enqueues the copies of the new states, behind the execution. */
  void copyOut(Batch batch, long[][] outputShapes) {
    for (State state : states) {
      Binding output = bindings.outputs().get(state.output);
      long[] shape = OutputCopier.shape(output, outputShapes[state.output]).clone();
      if (batch.size() > 0) {
        checkRows(output, shape, batch.size());
        shape[0] = 1;
      }
      long byteSize = output.byteSize(shape);
      for (int i = 0; i < batch.requestCount(); i++) {
        Made next = room(state, batch.request(i), i, byteSize, shape);
        made.add(next);
        long row = batch.request(i).firstRow();
        copy(next.memory.address(), output.address() + row * byteSize, byteSize);
      }
    }
  }

  private static void checkRows(Binding output, long[] shape, long rows) {
    if (shape.length == 0 || shape[0] != rows) {
      throw new NereidException(
          StatusCode.INTERNAL,
          "TensorRT made %s of state %s, expected %s"
              .formatted(
                  shape.length == 0 ? "a scalar" : shape[0] + " rows",
                  output.tensor().title(),
                  rows));
    }
  }

  /**
   * Returns memory for a new state: the old state's, if that is to be overwritten and fits, or new
   * memory.
   */
  private Made room(State state, BatchRequest request, int index, long byteSize, long[] shape) {
    DeviceMemory old = state.sameBuffer ? request.keptState(state.index).orElse(null) : null;
    if (old != null && DevicePool.rounded(old.byteSize()) == DevicePool.rounded(byteSize)) {
      DeviceMemory same = new DeviceMemory(device, old.address(), byteSize);
      return new Made(index, state.index, same, shape, false);
    }
    DevicePool.Block block = memory.allocate(byteSize, state.input.tensor().title());
    DeviceMemory place = new DeviceMemory(device, block.address(), byteSize);
    return new Made(index, state.index, place, shape, true);
  }

  private void copy(long target, long source, long byteSize) {
    if (byteSize > 0) {
      stream.copyWithin(target, source, byteSize);
    }
  }

  /** Gives the new states to the sequences, after the stream has finished. */
  void keep(Batch batch) {
    while (!made.isEmpty()) {
      Made last = made.getLast();
      batch.request(last.request).keepState(last.state, last.memory, last.shape);
      made.removeLast();
    }
  }

  /**
   * Frees the new states of a failed batch that no sequence keeps, when nothing writes to them any
   * more.
   */
  void giveUp() {
    for (Made given : made) {
      if (given.isNew) {
        DevicePool.release(given.memory);
      }
    }
    made.clear();
  }

  @Override
  public void close() {
    Arrays.stream(initials).filter(Objects::nonNull).forEach(DevicePool.Block::release);
  }
}
