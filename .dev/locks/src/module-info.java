/** The annotation for locks, which Nereid needs only while it is compiled. */
module io.nereid.locks {
  exports com.google.errorprone.annotations.concurrent;
}
