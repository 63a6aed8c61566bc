package io.nereid.server.trace;

import io.nereid.server.options.RecordCopy;
import java.util.Objects;
import java.util.Set;

/**
 * The settings of tracing when a server starts. Make others from {@link #OFF}, with the levels
 * last, since tracing into files needs a file to be set.
 *
 * @param levels the recorded parts of requests; empty: nothing is traced
 * @param rate one of so many requests is traced; 0: only requests that their clients trace
 * @param count how many traces are taken; -1: no end
 * @param logFrequency traces in a numbered file; 0: all go into one file
 * @param file where traces are written in mode triton; empty: nowhere
 * @param mode where traces go
 * @param otlp the collector of mode opentelemetry
 */
public record TraceOptions(
    Set<TraceLevel> levels,
    long rate,
    long count,
    long logFrequency,
    String file,
    TraceMode mode,
    OtlpOptions otlp) {

  /** Nothing is traced; with levels, one of 1000 requests would be, without an end. */
  public static final TraceOptions OFF =
      new TraceOptions(Set.of(), 1000, -1, 0, "", TraceMode.TRITON, OtlpOptions.DEFAULT);

  /** Checks the values. */
  public TraceOptions {
    levels = Set.copyOf(levels);
    Objects.requireNonNull(file);
    Objects.requireNonNull(mode);
    Objects.requireNonNull(otlp);
    String reason = new TraceSettings(levels, rate, count, logFrequency).fault(mode, file);
    if (reason != null) {
      throw new IllegalArgumentException(reason);
    }
  }

  /** Returns a copy that records these levels; none: nothing is traced. */
  public TraceOptions withLevels(TraceLevel... recorded) {
    return RecordCopy.with(this, "levels", Set.of(recorded));
  }

  /** Returns a copy that traces one of so many requests. */
  public TraceOptions withRate(long oneOf) {
    return RecordCopy.with(this, "rate", oneOf);
  }

  /** Returns a copy that takes so many traces; -1: no end. */
  public TraceOptions withCount(long most) {
    return RecordCopy.with(this, "count", most);
  }

  /** Returns a copy with so many traces in a numbered file; 0: all go into one. */
  public TraceOptions withLogFrequency(long traces) {
    return RecordCopy.with(this, "logFrequency", traces);
  }

  /** Returns a copy that writes into another file. */
  public TraceOptions withFile(String path) {
    return RecordCopy.with(this, "file", path);
  }

  /** Returns a copy that sends traces to another place. */
  public TraceOptions withMode(TraceMode where) {
    return RecordCopy.with(this, "mode", where);
  }

  /** Returns a copy that sends traces to another collector. */
  public TraceOptions withOtlp(OtlpOptions collector) {
    return RecordCopy.with(this, "otlp", collector);
  }
}
