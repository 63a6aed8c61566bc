/**
 * Spans of an embedded Nereid by the API of OpenTelemetry, which the application brings: {@link
 * io.nereid.opentelemetry.NereidSpans}.
 */
package io.nereid.opentelemetry;
