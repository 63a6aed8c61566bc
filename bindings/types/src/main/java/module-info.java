/** The vocabulary of the Open Inference Protocol in Java: what the other modules all speak of. */
module io.nereid.types {
  exports io.nereid.tls;
  exports io.nereid.types;
}
