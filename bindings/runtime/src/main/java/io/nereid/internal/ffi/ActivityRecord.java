package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;

import io.nereid.model.TracedActivity;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Optional;

/** Reads an {@code nrt_activity}, which is valid during the call that passes it. */
public final class ActivityRecord {

  private static final StructLayout LAYOUT =
      Memory.struct(
          "long tag, trace, parent, time_ns, version; string model, request_id, name, "
              + "tensor_name; long tensor");

  private ActivityRecord() {}

  /** The tag of the request that the activity belongs to. */
  public static long tag(MemorySegment activity) {
    return number(activity.address(), "tag");
  }

  /** Reads an activity that a plug-in tells; its tensor can be read until the arena is closed. */
  public static TracedActivity read(MemorySegment activity, Arena arena) {
    long address = activity.address();
    long tensor = number(address, "tensor");
    return new TracedActivity(
        number(address, "trace"),
        number(address, "parent"),
        text(address, "model"),
        number(address, "version"),
        text(address, "request_id"),
        text(address, "name"),
        number(address, "time_ns"),
        tensor == 0
            ? Optional.empty()
            : Optional.of(
                new TracedActivity.Content(
                    text(address, "tensor_name"), new Lender(arena).lend(tensor))));
  }

  private static long number(long address, String field) {
    return Memory.readLong(address + offset(LAYOUT, field));
  }

  private static String text(long address, String field) {
    long at = address + offset(LAYOUT, field);
    return Memory.readString(Memory.readLong(at), Memory.readLong(at + Long.BYTES));
  }

  /** Lends the memory of a plug-in's tensor during one call. */
  private static final class Lender extends TensorOwner {

    private final MemorySegment memory;

    Lender(Arena arena) {
      memory = Memory.whole(arena).asReadOnly();
    }

    Tensor lend(long address) {
      TensorRecord record = TensorRecord.at(address, 0);
      return tensor(
          record.dataType(), record.shape(), record.data(), record.byteSize(), record.isOnDevice());
    }

    @Override
    protected void checkOpen() {
      if (!memory.scope().isAlive()) {
        throw new IllegalStateException("the tensor of a trace can be read during the call only");
      }
    }

    @Override
    protected MemorySegment memory() {
      return memory;
    }
  }
}
