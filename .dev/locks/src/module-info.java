/** What is there while Nereid is compiled, and never afterwards. */
module io.nereid.locks {
  exports com.google.errorprone.annotations.concurrent;
}
