package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An {@code nrd_source}: a model that one of the core's backends has opened but not configured. The
 * thread that loads the model uses it, and closes it unless a load takes it over.
 */
public final class SourceHandle implements AutoCloseable {

  private static final int INPUT = 0; // NRD_TENSOR_INPUT
  private static final int OUTPUT = 1; // NRD_TENSOR_OUTPUT

  private long address;

  private SourceHandle(long address) {
    this.address = address;
  }

  /** Opens the model that the options name. The caller keeps the runtime alive meanwhile. */
  public static SourceHandle open(RuntimeHandle runtime, ModelOptionsRecord options) {
    return new SourceHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                Handles.SOURCE_OPEN.invokeExact(runtime.address(), options.address(), out, error)));
  }

  /** The inputs and outputs that the model declares; empty if its backend cannot tell them. */
  public Optional<ModelSignature> signature() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment spec = arena.allocate(TensorSpecRecord.LAYOUT);
      Optional<List<TensorSpec>> inputs = tensors(INPUT, spec);
      Optional<List<TensorSpec>> outputs = tensors(OUTPUT, spec);
      return inputs.flatMap(in -> outputs.map(out -> new ModelSignature(in, out, 0)));
    }
  }

  private Optional<List<TensorSpec>> tensors(int kind, MemorySegment spec) {
    List<TensorSpec> tensors = new ArrayList<>();
    for (int index = 0; ; index++) {
      int status = tensor(kind, index, spec);
      if (status == StatusCode.NOT_FOUND.number()) {
        return Optional.of(tensors);
      } else if (status == StatusCode.UNIMPLEMENTED.number()) {
        return Optional.empty();
      } else if (status != StatusCode.OK.number()) {
        throw new NereidException(
            StatusCode.ofNumber(status), "a backend does not tell what tensors a model has");
      }
      TensorSpecRecord.read(spec, kind == INPUT).ifPresent(tensors::add);
    }
  }

  /** The configuration as an isolated plug-in completed it; empty: unchanged. */
  public Optional<String> completed() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment json = arena.allocate(Memory.STRING);
      NativeCalls.run(() -> {
        Handles.OfIsolation.SOURCE_COMPLETED.invokeExact(address, json.address());
      });
      String text =
          Memory.readString(
              json.get(JAVA_LONG, offset(Memory.STRING, "data")),
              json.get(JAVA_LONG, offset(Memory.STRING, "size")));
      return Optional.of(text).filter(told -> !told.isEmpty());
    }
  }

  private int tensor(int kind, int index, MemorySegment spec) {
    try {
      return (int) Handles.SOURCE_TENSOR.invokeExact(address, kind, index, spec.address());
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives up the source to a load and returns its address. */
  long take() {
    long taken = address;
    address = 0;
    return taken;
  }

  @Override
  public void close() {
    if (address != 0) {
      NativeCalls.run(() -> {
        Handles.SOURCE_RELEASE.invokeExact(take());
      });
    }
  }
}
