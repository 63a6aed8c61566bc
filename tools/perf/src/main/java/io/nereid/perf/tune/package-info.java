/**
 * Searches for the configuration with the highest throughput of a model: {@code nereid tune}. The
 * load generator measures candidates one after the other, in a separate server.
 */
package io.nereid.perf.tune;
