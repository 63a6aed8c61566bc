package io.nereid.model;

import java.util.Map;
import java.util.Optional;

/** A request in the queue of its model, as a {@link Batcher} sees it during a call. */
public interface WaitingRequest {

  /** The id that the request's sender gave. */
  Optional<String> id();

  /** The parameters that the request's sender gave. */
  Map<String, Object> parameters();

  /** The number of the request's rows; 0 for models without a batch dimension. */
  long rows();

  /** True if the request brings this input. */
  boolean hasInput(String name);

  /** The number of elements that this input has; 0 when the request brings none. */
  long elementCount(String name);

  /** The shape of this input, which the request must bring. */
  long[] inputShape(String name);

  /** The priority, from 1, the most urgent; 0: the model's default. */
  int priority();

  /** The time, by System.nanoTime(), after which the request is not started any more; 0: none. */
  long deadlineNs();
}
