package io.nereid.server.trace;

import java.util.Objects;
import java.util.Set;

/**
 * What is traced when a server starts. Build one with {@link #builder()}.
 *
 * @param levels what is recorded of requests; nothing is traced without any
 * @param rate of how many requests one is traced; 0: those only whose clients trace them
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

  /** A builder with the defaults: off. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link TraceOptions}. */
  public static final class Builder {
    private Set<TraceLevel> levels = Set.of();
    private long rate = 1000;
    private long count = -1;
    private long logFrequency;
    private String file = "";
    private TraceMode mode = TraceMode.TRITON;
    private OtlpOptions otlp = OtlpOptions.DEFAULT;

    private Builder() {}

    /** What is recorded of requests; by default none is traced. */
    public Builder levels(TraceLevel... recorded) {
      levels = Set.of(recorded);
      return this;
    }

    /** Of how many requests one is traced; 1000 by default. */
    public Builder rate(long oneOf) {
      rate = oneOf;
      return this;
    }

    /** How many traces are taken; -1, the default, has no end. */
    public Builder count(long most) {
      count = most;
      return this;
    }

    /** Traces in a numbered file; 0, the default, puts all into one. */
    public Builder logFrequency(long traces) {
      logFrequency = traces;
      return this;
    }

    /** Where traces are written in mode triton. */
    public Builder file(String path) {
      file = path;
      return this;
    }

    /** Where traces go; into files by default. */
    public Builder mode(TraceMode where) {
      mode = where;
      return this;
    }

    /** The collector of mode opentelemetry; one on this machine by default. */
    public Builder otlp(OtlpOptions collector) {
      otlp = collector;
      return this;
    }

    /** The finished value. */
    public TraceOptions build() {
      return new TraceOptions(levels, rate, count, logFrequency, file, mode, otlp);
    }
  }
}
