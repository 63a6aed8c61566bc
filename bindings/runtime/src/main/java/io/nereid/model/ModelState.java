package io.nereid.model;

/** The state in the life of a version of a model. */
public enum ModelState {
  /** The version's backend is being opened. */
  LOADING,
  /** It takes requests. */
  READY,
  /** The version takes no more requests; its open ones are being finished. */
  DRAINING,
  /** It was unloaded. */
  UNLOADED,
  /** The ensemble takes no requests until a model that was unloaded is loaded again. */
  INCOMPLETE,
  /** Its last load failed. */
  FAILED
}
