package io.nereid.benchmarks.compare;

/** Two forks that ran one after the other. */
record Pair(Fork base, Fork candidate) {}
