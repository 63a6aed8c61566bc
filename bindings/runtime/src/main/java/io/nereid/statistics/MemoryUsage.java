package io.nereid.statistics;

/**
 * The memory that a model occupies, in bytes.
 *
 * @param weights memory for as long as it is loaded, if its backend reports it; 0: unknown
 * @param working memory kept between executions beyond the weights, likewise
 * @param pool inputs and outputs of its requests that are in use now
 */
public record MemoryUsage(long weights, long working, long pool) {

  /** The usage of a backend that does not report it. */
  public static final MemoryUsage UNKNOWN = new MemoryUsage(0, 0, 0);
}
