package io.nereid.recording;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Says which requests are recorded, where to, and how much may be kept. Make others from {@link
 * #to}.
 *
 * @param directory where segments are written; made with mode 0700 where it is not there
 * @param models the models whose requests are recorded; empty: all
 * @param share the part of requests that are recorded, above 0 and at most 1; sequences are
 *     recorded as a whole or not at all
 * @param redacted the names of inputs, outputs and parameters whose values are not recorded
 * @param outputs whether outputs are recorded as well
 * @param maxBytes the most that all segments of the directory take: the oldest are deleted
 * @param maxAge the age at which a segment is deleted; empty: none
 * @param memoryBytes the memory in which requests wait to be written
 */
public record RecordingOptions(
    Path directory,
    Set<String> models,
    double share,
    Set<String> redacted,
    boolean outputs,
    long maxBytes,
    Optional<Duration> maxAge,
    long memoryBytes) {

  /** The least {@link #maxBytes}. */
  public static final long LEAST_BYTES = 1 << 20;

  private static final long LARGEST_SEGMENT = 64L << 20;
  private static final long LEAST_MEMORY = 1 << 16;
  private static final long MOST_MEMORY = 1 << 30;

  /** Checks the values. */
  public RecordingOptions {
    Objects.requireNonNull(directory);
    models = Set.copyOf(models);
    redacted = Set.copyOf(redacted);
    Objects.requireNonNull(maxAge);
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException("expected a share above 0 and at most 1, got " + share);
    }
    if (maxBytes < LEAST_BYTES) {
      throw new IllegalArgumentException(
          "expected at least " + LEAST_BYTES + " bytes for a recording, got " + maxBytes);
    }
    if (maxAge.isPresent() && !maxAge.get().isPositive()) {
      throw new IllegalArgumentException("expected an age above 0, got " + maxAge.get());
    }
    checkMemory(memoryBytes);
  }

  static void checkMemory(long bytes) {
    if (bytes < LEAST_MEMORY || bytes > MOST_MEMORY) {
      throw new IllegalArgumentException(
          "expected %d to %d bytes of memory, got %d".formatted(LEAST_MEMORY, MOST_MEMORY, bytes));
    }
  }

  /** All requests without their outputs, 10 GiB at most, 64 MiB of memory. */
  public static RecordingOptions to(Path directory) {
    return new RecordingOptions(
        directory, Set.of(), 1, Set.of(), false, 10L << 30, Optional.empty(), 64L << 20);
  }

  /** Returns a copy that records the requests to these models. */
  public RecordingOptions withModels(Set<String> names) {
    return new RecordingOptions(
        directory, names, share, redacted, outputs, maxBytes, maxAge, memoryBytes);
  }

  /** Returns a copy that records this part of the requests. */
  public RecordingOptions withShare(double part) {
    return new RecordingOptions(
        directory, models, part, redacted, outputs, maxBytes, maxAge, memoryBytes);
  }

  /** Returns a copy that leaves these values out. */
  public RecordingOptions withRedacted(Set<String> names) {
    return new RecordingOptions(
        directory, models, share, names, outputs, maxBytes, maxAge, memoryBytes);
  }

  /** Returns a copy that records outputs, or does not. */
  public RecordingOptions withOutputs(boolean recorded) {
    return new RecordingOptions(
        directory, models, share, redacted, recorded, maxBytes, maxAge, memoryBytes);
  }

  /** Returns a copy that keeps so much, and each segment so long. */
  public RecordingOptions withRetention(long bytes, Optional<Duration> age) {
    return new RecordingOptions(
        directory, models, share, redacted, outputs, bytes, age, memoryBytes);
  }

  /** Returns a copy that lets requests wait in so much memory. */
  public RecordingOptions withMemory(long bytes) {
    return new RecordingOptions(
        directory, models, share, redacted, outputs, maxBytes, maxAge, bytes);
  }

  /** The size at which a segment is full. */
  long segmentBytes() {
    return Math.min(LARGEST_SEGMENT, maxBytes / 4);
  }
}
