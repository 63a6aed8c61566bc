/**
 * Looks for the configuration with which a model answers most: {@code nereid tune}. Candidates are
 * measured by the load generator, in a server of their own, one after the other.
 */
package io.nereid.perf.tune;
