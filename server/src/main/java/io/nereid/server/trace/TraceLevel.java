package io.nereid.server.trace;

import java.util.List;
import java.util.Set;

/** A part of a request that a trace records. Without any level nothing is traced. */
public enum TraceLevel {
  /** The begin and end of each stage of a request. */
  TIMESTAMPS,
  /** The request's inputs and outputs; in mode {@link TraceMode#TRITON} only. */
  TENSORS;

  /** The name in settings for no levels. */
  public static final String OFF = "OFF";

  /** The names that a setting can have. */
  public static final String EXPECTED = "OFF, TIMESTAMPS or TENSORS";

  /** The level of this name; null if there is none, as for {@link #OFF}. */
  public static TraceLevel named(String name) {
    for (TraceLevel level : values()) {
      if (level.name().equals(name)) {
        return level;
      }
    }
    return null;
  }

  /** The names of levels in settings. */
  static List<String> names(Set<TraceLevel> levels) {
    return levels.isEmpty()
        ? List.of(OFF)
        : levels.stream().sorted().map(TraceLevel::name).toList();
  }
}
