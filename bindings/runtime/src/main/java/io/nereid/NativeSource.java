package io.nereid;

import static io.nereid.internal.ffi.ModelLayout.SPEC_OPTIONAL;
import static io.nereid.internal.ffi.ModelLayout.STRING_DATA;
import static io.nereid.internal.ffi.ModelLayout.STRING_SIZE;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_INPUT;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_OUTPUT;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_DATATYPE;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_DIMS;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_FLAGS;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_NAME;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_RANK;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.ModelCalls;
import io.nereid.internal.model.CoreBackends;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An {@code nrd_source}: a model that one of the core's backends has opened but not configured. */
@SuppressWarnings("exports")
public final class NativeSource implements AutoCloseable {

  private long handle;

  private NativeSource(long handle) {
    this.handle = handle;
  }

  public static NativeSource open(NativeRuntime runtime, ModelSpec opening) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = CoreBackends.find(arena, opening.backendName());
      MemorySegment options =
          ModelOptionsWriter.write(
              arena, opening, 1, table.address(), CoreBackends.parameters(runtime, opening));
      MemorySegment out = arena.allocate(JAVA_LONG);
      long error = ErrorRecord.allocate(arena);
      int status =
          runtime.use(at -> ModelCalls.sourceOpen(at, options.address(), out.address(), error));
      ErrorRecord.check(status, error);
      return new NativeSource(out.get(JAVA_LONG, 0));
    }
  }

  /** What the model says of itself; empty when its backend cannot tell. */
  public Optional<ModelSignature> signature() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment spec = arena.allocate(TENSOR_SPEC);
      Optional<List<TensorSpec>> inputs = tensors(TENSOR_INPUT, spec);
      Optional<List<TensorSpec>> outputs = tensors(TENSOR_OUTPUT, spec);
      return inputs.flatMap(in -> outputs.map(out -> new ModelSignature(in, out, 0)));
    }
  }

  private Optional<List<TensorSpec>> tensors(int kind, MemorySegment spec) {
    List<TensorSpec> tensors = new ArrayList<>();
    for (int index = 0; ; index++) {
      int status = ModelCalls.sourceTensor(handle, kind, index, spec.address());
      if (status == StatusCode.NOT_FOUND.number()) {
        return Optional.of(tensors);
      } else if (status == StatusCode.UNIMPLEMENTED.number()) {
        return Optional.empty();
      } else if (status != StatusCode.OK.number()) {
        throw new NereidException(
            StatusCode.ofNumber(status), "a backend does not tell what tensors a model has");
      }
      tensor(kind, spec).ifPresent(tensors::add);
    }
  }

  /** Empty for one that cannot be served and can be done without. */
  private static Optional<TensorSpec> tensor(int kind, MemorySegment spec) {
    String name =
        Memory.readString(
            spec.get(JAVA_LONG, TENSOR_SPEC_NAME + STRING_DATA),
            spec.get(JAVA_LONG, TENSOR_SPEC_NAME + STRING_SIZE));
    int rank = spec.get(JAVA_INT, TENSOR_SPEC_RANK);
    if (rank > TensorSpec.MAX_RANK) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "tensor '"
              + name
              + "' of the model has "
              + rank
              + " dimensions, at most "
              + TensorSpec.MAX_RANK
              + " are supported");
    }
    boolean optional = (spec.get(JAVA_INT, TENSOR_SPEC_FLAGS) & SPEC_OPTIONAL) != 0;
    int datatype = spec.get(JAVA_INT, TENSOR_SPEC_DATATYPE);
    if (datatype == 0 && (optional || kind == TENSOR_OUTPUT)) {
      return Optional.empty();
    } else if (datatype == 0) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "input '" + name + "' of the model is not a tensor of a datatype that is supported");
    }
    List<Long> dims = new ArrayList<>();
    for (int i = 0; i < rank; i++) {
      dims.add(spec.get(JAVA_LONG, TENSOR_SPEC_DIMS + (long) i * Long.BYTES));
    }
    return Optional.of(new TensorSpec(name, DataType.ofCode(datatype), dims, optional));
  }

  /** The handle, for a load to take over. */
  public long take() {
    long taken = handle;
    handle = 0;
    return taken;
  }

  @Override
  public void close() {
    if (handle != 0) {
      ModelCalls.sourceRelease(take());
    }
  }
}
