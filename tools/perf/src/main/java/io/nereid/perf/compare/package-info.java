/**
 * Compares two sides by measurements: forks of both alternate, and the ratio of each pair of
 * neighbours counts. The forks are benchmarks of builds ({@code ./dev bench}) or servers with a
 * model ({@code nereid bench}).
 */
package io.nereid.perf.compare;
