package io.nereid.tensorrt;

import java.util.Arrays;

/** A version of TensorRT, written {@code 10.6.0}. */
public record TensorRtVersion(int major, int minor, int patch)
    implements Comparable<TensorRtVersion> {

  /** The version for TensorRT's own number, as of TensorRT 10. */
  static TensorRtVersion ofNumber(int number) {
    return new TensorRtVersion(number / 10_000, number / 100 % 100, number % 100);
  }

  @Override
  public int compareTo(TensorRtVersion other) {
    return Arrays.compare(
        new int[] {major, minor, patch}, new int[] {other.major, other.minor, other.patch});
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + patch;
  }
}
