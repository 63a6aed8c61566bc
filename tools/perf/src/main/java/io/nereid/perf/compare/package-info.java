/**
 * Compares two of anything that can be measured: forks of both take turns, and the ratio of each
 * pair of neighbours is what counts. The forks are benchmarks of builds ({@code ./dev bench}) or
 * servers with a model ({@code nereid bench}).
 */
package io.nereid.perf.compare;
