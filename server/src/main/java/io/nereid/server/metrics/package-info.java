/** Metrics for Prometheus, served at their own port. */
package io.nereid.server.metrics;
