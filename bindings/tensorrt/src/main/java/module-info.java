/**
 * TensorRT plans on NVIDIA's GPUs, for Nereid. Native code is called through JavaCPP and the
 * foreign function interface: start with {@code --enable-native-access=ALL-UNNAMED} on the class
 * path, or with the names of this module and {@code org.bytedeco.javacpp} on the module path.
 */
module io.nereid.tensorrt {
  requires static io.nereid.locks;
  requires transitive io.nereid.runtime;
  requires transitive org.bytedeco.cuda;
  requires transitive org.bytedeco.javacpp;
  requires transitive org.bytedeco.tensorrt;
  requires tools.jackson.core;

  exports io.nereid.tensorrt;
  exports io.nereid.tensorrt.builder;

  provides io.nereid.model.Backend with
      io.nereid.tensorrt.TensorRtBackend;
}
