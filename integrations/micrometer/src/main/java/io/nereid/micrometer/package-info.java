/**
 * Metrics of an embedded Nereid for Micrometer: {@link io.nereid.micrometer.NereidMetrics} binds
 * them to the application's registry, including those of models that are loaded later.
 *
 * {@snippet class="io.nereid.micrometer.MetricsGuideTest" region="bind"}
 */
package io.nereid.micrometer;
