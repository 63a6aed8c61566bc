package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.Checks;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Control;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.TensorSpec;
import io.nereid.types.NereidException;
import io.nereid.types.Shapes;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.channels.FileChannel;
import java.util.List;

/** A {@link SequenceBatching} as {@code nrd_sequence_options}, in the memory of one arena. */
final class SequenceOptionsRecord {

  // NRD_SEQUENCES_*
  private static final int DIRECT = 1;
  private static final int OLDEST = 2;
  private static final int ITERATIVE = 1;

  // NRD_STATE_*
  private static final int SAME_BUFFER = 1;

  static final StructLayout CONTROL = Memory.struct("int input, kind; long no, yes");

  static final StructLayout STATE =
      Memory.struct(
          "int input, output, flags, rank; long["
              + TensorRecord.MAX_RANK
              + "] dims; "
              + "long initial, initial_size");

  static final StructLayout SEQUENCES =
      Memory.struct(
          "int strategy, flags; long max_idle_ns; int candidates, control_count; double "
              + "minimum_slot_utilization; long controls, states; int state_count, reserved");

  private final Arena arena;
  private final SequenceBatching batching;
  private final List<String> inputs;
  private final List<String> outputs;
  private final MemorySegment record;

  private SequenceOptionsRecord(Arena arena, ModelSpec spec, SequenceBatching batching) {
    this.arena = arena;
    this.batching = batching;
    inputs = spec.inputs().stream().map(TensorSpec::name).toList();
    outputs = spec.outputs().stream().map(TensorSpec::name).toList();
    record = arena.allocate(SEQUENCES);
  }

  /** Writes the options for the sequences of a model, with shapes as its backend sees them. */
  static long write(Arena arena, ModelSpec spec, SequenceBatching batching) {
    SequenceOptionsRecord options = new SequenceOptionsRecord(arena, spec, batching);
    options.write();
    return options.record.address();
  }

  private void write() {
    switch (batching.strategy()) {
      case SequenceBatching.Direct direct -> {
        set("strategy", DIRECT);
        record.set(
            JAVA_DOUBLE,
            offset(SEQUENCES, "minimum_slot_utilization"),
            direct.minimumSlotUtilization());
      }
      case SequenceBatching.Oldest oldest -> {
        set("strategy", OLDEST);
        set("candidates", oldest.maxCandidates());
      }
    }
    set("flags", batching.iterative() ? ITERATIVE : 0);
    record.set(JAVA_LONG, offset(SEQUENCES, "max_idle_ns"), Checks.nanos(batching.maxIdle()));
    List<Control> controls = batching.controls();
    MemorySegment array = arena.allocate(CONTROL, controls.size());
    for (int i = 0; i < controls.size(); i++) {
      control(array.asSlice(i * CONTROL.byteSize(), CONTROL), controls.get(i));
    }
    set("control_count", controls.size());
    record.set(JAVA_LONG, offset(SEQUENCES, "controls"), array.address());
    List<State> states = batching.states();
    array = arena.allocate(STATE, states.size());
    for (int i = 0; i < states.size(); i++) {
      state(array.asSlice(i * STATE.byteSize(), STATE), states.get(i));
    }
    set("state_count", states.size());
    record.set(JAVA_LONG, offset(SEQUENCES, "states"), array.address());
  }

  private void set(String field, int value) {
    record.set(JAVA_INT, offset(SEQUENCES, field), value);
  }

  private void control(MemorySegment target, Control control) {
    target.set(JAVA_INT, offset(CONTROL, "input"), inputs.indexOf(control.input()));
    int kind =
        switch (control.kind()) {
          case START -> 0;
          case END -> 1;
          case READY -> 2;
          case CORRID -> 3;
        };
    target.set(JAVA_INT, offset(CONTROL, "kind"), kind);
    target.set(JAVA_LONG, offset(CONTROL, "no"), element(control, control.no()));
    target.set(JAVA_LONG, offset(CONTROL, "yes"), element(control, control.yes()));
  }

  /** Encodes an element in the first bytes of a long. */
  private static long element(Control control, double value) {
    return switch (control.dataType()) {
      case INT32 -> Integer.toUnsignedLong((int) value);
      case FP32 -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) value));
      case BOOL -> value == 0 ? 0 : 1;
      default -> 0; // of CORRID
    };
  }

  private void state(MemorySegment target, State state) {
    target.set(JAVA_INT, offset(STATE, "input"), inputs.indexOf(state.input()));
    target.set(JAVA_INT, offset(STATE, "output"), outputs.indexOf(state.output()));
    target.set(JAVA_INT, offset(STATE, "flags"), state.sameBuffer() ? SAME_BUFFER : 0);
    List<Long> dims = state.initialDims();
    target.set(JAVA_INT, offset(STATE, "rank"), dims.size());
    for (int i = 0; i < dims.size(); i++) {
      target.set(JAVA_LONG, offset(STATE, "dims") + (long) i * Long.BYTES, dims.get(i));
    }
    if (state.initial().flatMap(Initial::file).isPresent()) {
      MemorySegment content = content(state);
      target.set(JAVA_LONG, offset(STATE, "initial"), content.address());
      target.set(JAVA_LONG, offset(STATE, "initial_size"), content.byteSize());
    }
  }

  /** The elements from the file, which may hold more than are needed. */
  private MemorySegment content(State state) {
    Initial initial = state.initial().orElseThrow();
    try (FileChannel file = FileChannel.open(initial.file().orElseThrow())) {
      long size = file.size();
      if (state.dataType().isFixedSize()) {
        long[] dims = initial.dims().stream().mapToLong(Long::longValue).toArray();
        long needed = Math.multiplyExact(Shapes.elementCount(dims), state.dataType().byteSize());
        if (size < needed) {
          throw unusable(state, "it has " + size + " bytes, expected " + needed, null);
        }
        size = needed;
      }
      try (Arena mapped = Arena.ofConfined()) {
        MemorySegment data = file.map(FileChannel.MapMode.READ_ONLY, 0, size, mapped);
        return arena.allocate(Math.max(1, size), Long.BYTES).asSlice(0, size).copyFrom(data);
      }
    } catch (IOException e) {
      throw unusable(state, "it cannot be read", e);
    }
  }

  private static NereidException unusable(State state, String why, IOException cause) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT, "initial state '" + state.input() + "': " + why, cause);
  }
}
