package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An {@code nrd_tensor_spec}: a model's specification of an input or output. */
final class TensorSpecRecord {

  private static final int OPTIONAL = 1; // NRD_SPEC_OPTIONAL
  private static final int RESHAPE = 2; // NRD_SPEC_RESHAPE
  private static final int RAGGED = 4; // NRD_SPEC_RAGGED
  private static final int HIDDEN = 8; // NRD_SPEC_HIDDEN

  private static final long STRING_DATA = offset(Memory.STRING, "data");
  private static final long STRING_SIZE = offset(Memory.STRING, "size");

  static final StructLayout LAYOUT =
      Memory.struct(
          "string name; int datatype, rank, flags, reshape_rank; "
              + "long["
              + TensorRecord.MAX_RANK
              + "] dims, reshape");

  private static final long NAME = offset(LAYOUT, "name");
  private static final long DATATYPE = offset(LAYOUT, "datatype");
  private static final long RANK = offset(LAYOUT, "rank");
  private static final long FLAGS = offset(LAYOUT, "flags");
  private static final long RESHAPE_RANK = offset(LAYOUT, "reshape_rank");
  static final long DIMS = offset(LAYOUT, "dims");
  private static final long RESHAPED = offset(LAYOUT, "reshape");

  private TensorSpecRecord() {}

  /** Writes a string into the {@code nrd_string} at an offset of {@code target}. */
  static void string(Arena arena, MemorySegment target, long offset, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    target.set(JAVA_LONG, offset + STRING_DATA, arena.allocateFrom(JAVA_BYTE, bytes).address());
    target.set(JAVA_LONG, offset + STRING_SIZE, bytes.length);
  }

  /** Writes the {@code nrd_string} at an address. */
  static void writeString(long string, long data, long size) {
    Memory.writeLong(string + STRING_DATA, data);
    Memory.writeLong(string + STRING_SIZE, size);
  }

  /** The text of the {@code nrd_string} at an address. */
  static String readString(long string) {
    return Memory.readString(
        Memory.readLong(string + STRING_DATA), Memory.readLong(string + STRING_SIZE));
  }

  /**
   * Writes an array of specifications and returns its address.
   *
   * @param visible how many of them, at the front, requests have
   */
  static long write(Arena arena, List<TensorSpec> tensors, int visible) {
    MemorySegment specs = arena.allocate(LAYOUT, tensors.size());
    for (int i = 0; i < tensors.size(); i++) {
      TensorSpec tensor = tensors.get(i);
      MemorySegment target = specs.asSlice(i * LAYOUT.byteSize(), LAYOUT);
      string(arena, target, NAME, tensor.name());
      target.set(JAVA_INT, DATATYPE, tensor.dataType().code());
      int flags =
          (tensor.optional() ? OPTIONAL : 0)
              | (tensor.reshape().isPresent() ? RESHAPE : 0)
              | (tensor.ragged() ? RAGGED : 0)
              | (i >= visible ? HIDDEN : 0);
      target.set(JAVA_INT, FLAGS, flags);
      dims(target, RANK, DIMS, tensor.dims());
      dims(target, RESHAPE_RANK, RESHAPED, tensor.reshape().orElse(List.of()));
    }
    return specs.address();
  }

  private static void dims(MemorySegment target, long rank, long offset, List<Long> dims) {
    target.set(JAVA_INT, rank, dims.size());
    for (int i = 0; i < dims.size(); i++) {
      target.set(JAVA_LONG, offset + (long) i * Long.BYTES, dims.get(i));
    }
  }

  /**
   * Reads the specification that the core wrote; empty for an optional tensor that cannot be
   * served.
   */
  static Optional<TensorSpec> read(MemorySegment spec, boolean input) {
    String name =
        Memory.readString(
            spec.get(JAVA_LONG, NAME + STRING_DATA), spec.get(JAVA_LONG, NAME + STRING_SIZE));
    int rank = spec.get(JAVA_INT, RANK);
    if (rank > TensorSpec.MAX_RANK) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "tensor '%s' of the model has %s dimensions, at most %s are supported"
              .formatted(name, rank, TensorSpec.MAX_RANK));
    }
    boolean optional = (spec.get(JAVA_INT, FLAGS) & OPTIONAL) != 0;
    int datatype = spec.get(JAVA_INT, DATATYPE);
    if (datatype == 0 && (optional || !input)) {
      return Optional.empty();
    } else if (datatype == 0) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "input '" + name + "' of the model is not a tensor of a datatype that is supported");
    }
    List<Long> dims = new ArrayList<>();
    for (int i = 0; i < rank; i++) {
      dims.add(spec.get(JAVA_LONG, DIMS + (long) i * Long.BYTES));
    }
    return Optional.of(new TensorSpec(name, DataType.ofCode(datatype), dims, optional));
  }
}
