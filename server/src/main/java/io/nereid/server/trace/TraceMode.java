package io.nereid.server.trace;

import java.util.Locale;

/** The place to which traces go. */
public enum TraceMode {
  /** Into files, in Triton's JSON format. */
  TRITON,
  /** To an OpenTelemetry collector. */
  OPENTELEMETRY;

  /** The name of the mode in settings. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
