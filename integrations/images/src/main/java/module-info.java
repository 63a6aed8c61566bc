/** Images as tensors. */
module io.nereid.images {
  requires transitive io.nereid.runtime;
  requires transitive java.desktop;

  exports io.nereid.images;
}
