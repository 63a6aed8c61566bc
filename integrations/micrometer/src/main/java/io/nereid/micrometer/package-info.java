/**
 * Metrics of an embedded Nereid for Micrometer: {@link io.nereid.micrometer.NereidMetrics} binds
 * them to the application's registry, those of models that are loaded later, too.
 *
 * {@snippet class="io.nereid.micrometer.MetricsGuideTest" region="bind"}
 */
package io.nereid.micrometer;
