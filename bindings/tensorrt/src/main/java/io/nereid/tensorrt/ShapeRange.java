package io.nereid.tensorrt;

import java.util.List;

/**
 * What a profile allows for a tensor: its dimensions, or the values in it where it is one that
 * shapes are computed from.
 *
 * @param min the smallest
 * @param opt what it is fastest for
 * @param max the largest
 */
record ShapeRange(List<Long> min, List<Long> opt, List<Long> max) {

  ShapeRange {
    min = List.copyOf(min);
    opt = List.copyOf(opt);
    max = List.copyOf(max);
  }

  boolean contains(long[] sizes) {
    if (sizes.length != min.size()) {
      return false;
    }
    for (int i = 0; i < sizes.length; i++) {
      if (sizes[i] < min.get(i) || sizes[i] > max.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** How far sizes are from those that it is fastest for. */
  long distance(long[] sizes) {
    long distance = 0;
    for (int i = 0; i < sizes.length; i++) {
      distance += Math.abs(sizes[i] - opt.get(i));
    }
    return distance;
  }

  @Override
  public String toString() {
    return min + " to " + max;
  }
}
