/**
 * What {@code ./dev bench objective} measures: models that say in how long they answer, beside
 * every static setting, in a simulator and on the server.
 */
package io.nereid.benchmarks.objective;
