/**
 * Counts what a request costs in numbers that do not depend on the machine, and holds them to
 * budgets.
 */
package io.nereid.benchmarks.counters;
