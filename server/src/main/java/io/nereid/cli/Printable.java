package io.nereid.cli;

/** Text of models and their files as a terminal may show it. */
final class Printable {

  private Printable() {}

  /** Without line breaks, and without what a terminal would act on instead of printing it. */
  static String of(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }
}
