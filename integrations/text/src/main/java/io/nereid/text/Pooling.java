package io.nereid.text;

/**
 * The ways to make one vector of the vectors of a text's tokens; a model's card says which one it
 * wants.
 */
public enum Pooling {
  /** The mean of all is the text's, as most sentence transformers want it. */
  MEAN,
  /** The vector of the first token is the text's. */
  FIRST
}
