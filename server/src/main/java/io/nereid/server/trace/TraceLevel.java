package io.nereid.server.trace;

import java.util.List;
import java.util.Set;

/** A part of a request that a trace records. Without any level nothing is traced. */
public enum TraceLevel {
  /** When the stages of a request began and ended. */
  TIMESTAMPS,
  /** Its inputs and outputs; in mode {@link TraceMode#TRITON} only. */
  TENSORS;

  /** The name that settings have for the absence of levels. */
  public static final String OFF = "OFF";

  /** The names that a setting can have. */
  public static final String EXPECTED = "OFF, TIMESTAMPS or TENSORS";

  /** The level of this name; null when there is none, which {@link #OFF} is not. */
  public static TraceLevel named(String name) {
    for (TraceLevel level : values()) {
      if (level.name().equals(name)) {
        return level;
      }
    }
    return null;
  }

  /** The names that settings have for them. */
  static List<String> names(Set<TraceLevel> levels) {
    return levels.isEmpty()
        ? List.of(OFF)
        : levels.stream().sorted().map(TraceLevel::name).toList();
  }
}
