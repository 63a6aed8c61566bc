/**
 * The parts of reports: tables, drawings, pages and JSON. The load generator, the comparison of
 * builds, the comparison with other runtimes and the verification of GPUs all write their reports
 * with this package.
 */
package io.nereid.perf.report;
