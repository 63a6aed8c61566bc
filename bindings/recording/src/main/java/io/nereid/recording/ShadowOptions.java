package io.nereid.recording;

import io.nereid.recording.compare.Tolerance;
import java.util.Map;

/**
 * Says how much of the requests a shadow gets, and how its answers are judged.
 *
 * @param share the part of the requests that are copied, above 0 and at most 1
 * @param memoryBytes the memory in which copies wait for their turn; what does not fit is dropped
 * @param tolerances by {@code MODEL/OUTPUT}, as {@link Tolerance#read} has them
 */
public record ShadowOptions(double share, long memoryBytes, Map<String, Tolerance> tolerances) {

  /** All requests, 64 MiB, and the tolerances that outputs have by default. */
  public static final ShadowOptions DEFAULT = new ShadowOptions(1, 64L << 20, Map.of());

  /** Checks the values. */
  public ShadowOptions {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException("expected a share above 0 and at most 1, got " + share);
    }
    RecordingOptions.checkMemory(memoryBytes);
    tolerances = Map.copyOf(tolerances);
  }
}
