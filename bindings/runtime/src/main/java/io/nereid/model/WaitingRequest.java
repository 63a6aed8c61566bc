package io.nereid.model;

import java.util.Map;
import java.util.Optional;

/** A request in the queue of its model, as a {@link Batcher} sees it while it is asked. */
public interface WaitingRequest {

  /** The id that its sender gave. */
  Optional<String> id();

  /** The parameters that its sender gave. */
  Map<String, Object> parameters();

  /** The number of the request's rows; 0 for models without a batch dimension. */
  long rows();

  /** True if it brings this input. */
  boolean hasInput(String name);

  /** The number of elements that this input has; 0 when the request brings none. */
  long elementCount(String name);

  /** The shape of this input, which it brings. */
  long[] inputShape(String name);

  /** Its priority, from 1, the most urgent; 0: the model's default. */
  int priority();

  /** The moment after which it does not start any more, as of System.nanoTime(); 0: none. */
  long deadlineNs();
}
