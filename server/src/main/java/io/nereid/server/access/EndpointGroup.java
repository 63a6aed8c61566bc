package io.nereid.server.access;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Endpoints that are restricted together and granted together. */
public enum EndpointGroup {
  /** True if the server and its models are alive and ready. */
  HEALTH,
  /** Names and metadata of the server and its models. */
  METADATA,
  /** Running models. */
  INFERENCE,
  /** Registering shared memory. */
  SHARED_MEMORY,
  /** Configurations of models. */
  MODEL_CONFIG,
  /** The index of the repository, loading and unloading. */
  MODEL_REPOSITORY,
  /** Statistics of models. */
  STATISTICS,
  /** Settings of tracing. */
  TRACE,
  /** Settings of logging. */
  LOGGING;

  private static final String ALL_NAMES =
      Arrays.stream(values()).map(EndpointGroup::toString).collect(Collectors.joining(", "));

  /** Its name in flags and files, such as {@code model-config}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The groups of a list with commas; fails on a name that is none. */
  static Set<EndpointGroup> parse(String list) {
    Set<EndpointGroup> groups = EnumSet.noneOf(EndpointGroup.class);
    for (String name : list.split(",", -1)) {
      groups.add(
          Arrays.stream(values())
              .filter(group -> group.toString().equals(name.strip()))
              .findFirst()
              .orElseThrow(() -> unknown(name.strip())));
    }
    return groups;
  }

  private static IllegalArgumentException unknown(String name) {
    return new IllegalArgumentException(
        "expected groups of endpoints out of " + ALL_NAMES + ", got '" + name + "'");
  }
}
