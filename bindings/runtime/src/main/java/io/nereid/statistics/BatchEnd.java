package io.nereid.statistics;

/** The reason why a batch did not get more requests. The order is that of NRD_BATCH_*. */
public enum BatchEnd {
  /** The model does not batch dynamically. */
  SINGLE,
  /** The largest or a preferred size was reached, or the next request would have exceeded it. */
  FULL,
  /** The next request has other shapes, or the model's batcher kept it out. */
  UNLIKE,
  /** The oldest request had waited for as long as the model lets it. */
  DELAY,
  /** An instance was free, and no other request was waiting. */
  IDLE,
  /** With more, requests would have missed the model's objective. */
  OBJECTIVE,
  /** The model is unloaded, and no other requests will come. */
  DRAIN
}
