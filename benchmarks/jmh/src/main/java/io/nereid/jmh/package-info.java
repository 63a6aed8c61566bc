/**
 * The base of JMH benchmarks of an embedded Nereid. {@link io.nereid.jmh.RuntimeBenchmark} opens a
 * runtime before a trial and closes it afterwards; a subclass loads its models and sends requests.
 */
package io.nereid.jmh;
