package io.nereid.text;

/** How the vectors of a text's tokens become one; what a model wants its card says. */
public enum Pooling {
  /** The mean of all is the text's, as most sentence transformers want it. */
  MEAN,
  /** The vector of the first token is the text's. */
  FIRST
}
