/** Metrics of an embedded Nereid for Micrometer: {@link io.nereid.micrometer.NereidMetrics}. */
package io.nereid.micrometer;
