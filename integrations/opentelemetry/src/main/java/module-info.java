/** Spans of an embedded Nereid by the API of OpenTelemetry. */
module io.nereid.opentelemetry {
  requires transitive io.nereid.runtime;
  requires transitive io.opentelemetry.api;
  requires io.opentelemetry.context;

  exports io.nereid.opentelemetry;
}
