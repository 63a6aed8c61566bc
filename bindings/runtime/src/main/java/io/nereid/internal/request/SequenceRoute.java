package io.nereid.internal.request;

import io.nereid.model.SequenceId;

/** Finds the load of a model that a request of a sequence belongs to. From any thread. */
@FunctionalInterface
public interface SequenceRoute {

  /**
   * The requests to that load; null: none takes any.
   *
   * @param starts whether the request is the first of the sequence
   */
  SlotPool find(SequenceId id, boolean starts);
}
