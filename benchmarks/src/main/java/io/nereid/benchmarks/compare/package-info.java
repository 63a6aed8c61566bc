/**
 * Compares the benchmarks of two builds: forks of both take turns, and the ratio of each pair of
 * neighbours is what counts.
 */
package io.nereid.benchmarks.compare;
