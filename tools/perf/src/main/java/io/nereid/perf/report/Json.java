package io.nereid.perf.report;

import tools.jackson.jr.ob.JSON;

/** Writes JSON for other programs. */
public final class Json {

  private Json() {}

  /**
   * A tree of maps, lists, strings, numbers, booleans and null, indented and with a last newline.
   */
  public static String text(Object tree) {
    return JSON.std
            .with(JSON.Feature.PRETTY_PRINT_OUTPUT)
            .with(JSON.Feature.WRITE_NULL_PROPERTIES)
            .asString(tree)
        + "\n";
  }
}
