package io.nereid.model;

import java.util.List;

/**
 * A user's batch policy: decides which requests go together, besides the other rules of {@link
 * DynamicBatching}. Models name one by {@link #name}, when it is announced to {@link
 * java.util.ServiceLoader}, by class name, when the class has a public constructor without
 * parameters, or as an object.
 */
@FunctionalInterface
public interface Batcher {

  /**
   * True if {@code next} may join the requests that are chosen so far, of which there is at least
   * one. If not, the batch is complete, and waits no longer.
   *
   * <p>Called while the model's queue is locked, for the same requests again and again: the method
   * answers at once from its arguments alone, never calls the runtime, and keeps none of the
   * arguments. The runtime calls it on one thread at a time for each load of a model. An exception
   * counts as no.
   *
   * @param chosen in the order of the batch
   */
  boolean includes(List<WaitingRequest> chosen, WaitingRequest next);

  /** The name by which models refer to the batcher; the class's name unless overridden. */
  default String name() {
    return getClass().getName();
  }
}
