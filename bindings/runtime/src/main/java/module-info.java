/**
 * Nereid, an inference runtime to embed. Its native library is called through the foreign function
 * interface: start with {@code --enable-native-access=io.nereid.runtime}, or {@code ALL-UNNAMED} on
 * the class path.
 */
@SuppressWarnings("module") // the modules that it exports to are built after this one
module io.nereid.runtime {
  requires static io.nereid.locks;
  requires transitive io.nereid.types;
  requires java.logging; // needed by protobuf, which is inside the jar
  requires jdk.jfr;
  requires jdk.unsupported; // needed by protobuf, too
  requires tools.jackson.core;

  exports io.nereid;
  exports io.nereid.internal to
      io.nereid.triton;
  exports io.nereid.internal.config to
      io.nereid.triton;
  exports io.nereid.internal.cuda to
      io.nereid.tensorrt,
      io.nereid.triton;
  exports io.nereid.internal.ffi to
      io.nereid.triton;
  exports io.nereid.internal.loader to
      io.nereid.stores,
      io.nereid.triton;
  exports io.nereid.internal.model to
      io.nereid.triton;
  exports io.nereid.internal.request to
      io.nereid.triton;
  exports io.nereid.model;
  exports io.nereid.statistics;
  exports io.nereid.tensor;

  uses io.nereid.internal.model.PluginService.Provider;
  uses io.nereid.model.Backend;
  uses io.nereid.model.Batcher;
  uses io.nereid.model.ModelStore.Provider;

  provides io.nereid.model.Backend with
      io.nereid.internal.backend.RepeatBackend;
}
