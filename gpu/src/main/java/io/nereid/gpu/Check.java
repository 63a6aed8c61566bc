package io.nereid.gpu;

/** A part of the suite. What it throws is a row that failed; the next part runs all the same. */
interface Check {

  /** A short name, which {@code --only} takes. */
  String name();

  void run(Workbench bench, Report report) throws Exception;
}
