package io.nereid.gpu;

/**
 * A part of the suite. What it throws is a row that failed; the next part runs all the same. What
 * does not end ends the suite.
 */
interface Check {

  /** A short name, which {@code --only} takes. */
  String name();

  /** How many times the suite's patience it may take. */
  int patience();

  void run(Workbench bench, Report report) throws Exception;
}
