/** Figures for Prometheus, at a port of their own. */
package io.nereid.server.metrics;
