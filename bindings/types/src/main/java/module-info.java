/** The vocabulary that the other modules share, and what reads certificates and keys for them. */
module io.nereid.types {
  exports io.nereid.tls;
  exports io.nereid.types;
}
