package io.nereid.text;

/**
 * The ways to make one vector of the vectors of a text's tokens; a model's card names the right
 * one.
 */
public enum Pooling {
  /** The text's vector is the mean of all, as for most sentence transformers. */
  MEAN,
  /** The text's vector is that of the first token. */
  FIRST
}
