/** Metrics of an embedded Nereid for Micrometer. */
module io.nereid.micrometer {
  requires static io.nereid.locks;
  requires transitive io.nereid.runtime;
  requires transitive micrometer.core;

  exports io.nereid.micrometer;
}
