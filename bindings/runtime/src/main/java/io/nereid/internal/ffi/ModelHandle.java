package io.nereid.internal.ffi;

import io.nereid.model.SequenceId;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** An {@code nrd_model}. Its owner keeps it alive while others call, and releases it once. */
public final class ModelHandle {

  private final long address;

  private ModelHandle(long address) {
    this.address = address;
  }

  /** The address of the {@code nrd_model}. */
  public long address() {
    return address;
  }

  /**
   * Loads a model. The caller keeps the runtime alive meanwhile.
   *
   * @param source the opened model, or null. It belongs to the core from then on, even when this
   *     throws
   */
  public static ModelHandle load(
      RuntimeHandle runtime, ModelOptionsRecord options, SourceHandle source) {
    long taken = source == null ? 0 : source.take();
    return new ModelHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                Handles.MODEL_LOAD.invokeExact(
                    runtime.address(), options.address(), taken, out, error)));
  }

  /** A record for a request. */
  public RequestRecord acquire() {
    return new RequestRecord(
        NativeCalls.make(
            (arena, out, error) -> (int) Handles.REQUEST_ACQUIRE.invokeExact(address, out, error)));
  }

  /**
   * The statistics so far; {@code stages} says whether the runtime keeps distributions of stages.
   */
  public ModelStatistics statistics(boolean stages) {
    return StatisticsRecord.model(address, stages);
  }

  /**
   * The resources that the model's instances wait for, by the index of the instance; none for an
   * ensemble.
   */
  public List<InstanceStatistics> instances() {
    return LimitRecord.instances(address);
  }

  /** Figures of the model's sequences; empty: the model takes none. */
  public Optional<SequenceStatistics> sequences() {
    return StatisticsRecord.sequences(address);
  }

  /** True if this sequence has begun, and neither ended nor been idle for too long. */
  public boolean hasSequence(SequenceId id) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(Memory.STRING);
      TensorSpecRecord.string(arena, name, 0, id.name());
      return (int) Handles.OfSequences.MODEL_HAS_SEQUENCE.invokeExact(address, id.number(), name)
          != 0;
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Lets no new sequence start; those that have started go on. */
  public void finishSequences() {
    NativeCalls.run(() -> {
      Handles.OfSequences.MODEL_FINISH_SEQUENCES.invokeExact(address);
    });
  }

  /** The process that the model runs in; empty: this process. */
  public Optional<IsolationStatistics> isolation() {
    return IsolationRecord.read(address);
  }

  /** The memory that the model occupies now. */
  public MemoryUsage memory() {
    return StatisticsRecord.memory(address);
  }

  /**
   * Refuses new requests and waits for the others; at the deadline, answers those still waiting.
   *
   * @return false when the deadline came first
   */
  public boolean drain(long deadlineNs) {
    try {
      int status = (int) Handles.MODEL_DRAIN.invokeExact(address, deadlineNs, 0L);
      return status == StatusCode.OK.number();
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Closes the model's backend; records of its requests stay valid. */
  public void release() {
    NativeCalls.run(() -> {
      Handles.MODEL_RELEASE.invokeExact(address);
    });
  }
}
