/**
 * What reports are made of: tables, drawings, pages and JSON. The load generator, the comparison of
 * builds, that with other runtimes and the verification of GPUs all write theirs with it.
 */
package io.nereid.perf.report;
