package io.nereid.perf;

/**
 * How sequences look.
 *
 * @param length requests of one, on average
 * @param variation how far a length may be from that, as a fraction of it
 * @param seed of the random lengths
 */
record SequenceOptions(int length, double variation, long seed) {}
