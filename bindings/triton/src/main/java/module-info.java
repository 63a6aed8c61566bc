/**
 * Plug-ins made for Triton, for Nereid: backends, response caches and repository agents. They are
 * native code, which the runtime calls: start with {@code
 * --enable-native-access=io.nereid.runtime}, or {@code ALL-UNNAMED} on the class path.
 */
module io.nereid.triton {
  requires static io.nereid.locks;
  requires io.nereid.runtime;

  provides io.nereid.internal.model.PluginService.Provider with
      io.nereid.triton.TritonPlugins.Opener;
}
