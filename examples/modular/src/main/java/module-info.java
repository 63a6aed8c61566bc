/** An application of modules, which jlink makes an image of. */
module com.example.modular {
  requires io.nereid.runtime;
}
