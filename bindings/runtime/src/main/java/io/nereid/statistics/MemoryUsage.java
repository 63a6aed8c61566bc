package io.nereid.statistics;

/**
 * The memory that a model occupies, in bytes.
 *
 * @param weights for as long as it is loaded, as far as its backend tells; 0: unknown
 * @param working kept between executions beyond the weights, likewise
 * @param pool inputs and outputs of its requests that are in use now
 */
public record MemoryUsage(long weights, long working, long pool) {

  /** A backend that does not tell. */
  public static final MemoryUsage UNKNOWN = new MemoryUsage(0, 0, 0);
}
