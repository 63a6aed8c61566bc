package io.nereid.statistics;

/** The reason that a batch did not get more requests. The order is that of NRD_BATCH_*. */
public enum BatchEnd {
  /** The model does not batch dynamically. */
  SINGLE,
  /** The largest or a preferred size was reached, or what came next would have passed it. */
  FULL,
  /** The request that came next has other shapes, or the model's batcher kept it out. */
  UNLIKE,
  /** The oldest request had waited for as long as the model lets it. */
  DELAY,
  /** An instance was free, and nothing else was there. */
  IDLE,
  /** With more, requests would have missed the model's objective. */
  OBJECTIVE,
  /** The model is unloaded, and nothing else will come. */
  DRAIN
}
