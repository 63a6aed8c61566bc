/** Metrics of an embedded Nereid for Micrometer. */
module io.nereid.micrometer {
  requires transitive io.nereid.runtime;
  requires transitive micrometer.core;

  exports io.nereid.micrometer;
}
