package io.nereid.images;

import java.util.Arrays;

/**
 * The classes of an image's pixels.
 *
 * @param width the image's, in pixels
 * @param kinds the number of each pixel's class, row by row; 0: no class
 */
public record Mask(int width, int height, int[] kinds) {

  /** Checks that each pixel has a class. */
  public Mask {
    if (kinds.length != width * height) {
      throw new IllegalArgumentException(
          "expected " + width + " x " + height + " classes, got " + kinds.length);
    }
  }

  /** The part of the image that belongs to a class, from 0 to 1. */
  public double share(int kind) {
    return (double) Arrays.stream(kinds).filter(one -> one == kind).count() / kinds.length;
  }
}
