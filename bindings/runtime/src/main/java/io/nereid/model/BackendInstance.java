package io.nereid.model;

import io.nereid.statistics.MemoryUsage;

/** Executes batches of one model, one at a time. */
@FunctionalInterface
public interface BackendInstance extends AutoCloseable {

  /**
   * Reads the batch's inputs and fills in the outputs that are wanted. An exception fails all
   * requests of the batch, a {@link io.nereid.types.NereidException} with its own code, anything
   * else as {@link io.nereid.types.StatusCode#INTERNAL}; nothing beyond the batch is harmed.
   */
  void execute(Batch batch) throws Exception;

  /**
   * The memory that the instance occupies; the pool's part is not counted here. Called from any
   * thread.
   */
  default MemoryUsage memoryUsage() {
    return MemoryUsage.UNKNOWN;
  }

  /** Called once, on the instance's thread, when the model is unloaded. */
  @Override
  default void close() {}
}
