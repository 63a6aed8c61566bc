package io.nereid.model;

/** The state in the life of a version of a model. */
public enum ModelState {
  /** Its backend is being opened. */
  LOADING,
  /** It takes requests. */
  READY,
  /** It takes no more requests; those it has are being finished. */
  DRAINING,
  /** It was unloaded. */
  UNLOADED,
  /**
   * It is an ensemble one of whose models was unloaded: it takes no requests until that model is
   * there again.
   */
  INCOMPLETE,
  /** Its last load failed. */
  FAILED
}
