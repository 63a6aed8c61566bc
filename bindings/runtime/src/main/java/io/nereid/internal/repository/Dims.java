package io.nereid.internal.repository;

import java.util.List;
import java.util.stream.Collectors;

/** Shapes in messages, as configurations have them. */
final class Dims {

  private Dims() {}

  /** {@code [ -1, 16 ]}. */
  static String text(List<Long> dims) {
    return dims.isEmpty()
        ? "[ ]"
        : dims.stream().map(Object::toString).collect(Collectors.joining(", ", "[ ", " ]"));
  }

  /** Whether requests of {@code given} shape are ones of {@code expected}, which may hold -1. */
  static boolean fit(List<Long> given, List<Long> expected) {
    if (given.size() != expected.size()) {
      return false;
    }
    for (int i = 0; i < given.size(); i++) {
      if (expected.get(i) >= 0 && !expected.get(i).equals(given.get(i))) {
        return false;
      }
    }
    return true;
  }
}
