/**
 * Repositories in object stores, signed and sealed models, for Nereid. Sealed models are opened in
 * memory through the foreign function interface: start with {@code
 * --enable-native-access=ALL-UNNAMED} on the class path.
 */
module io.nereid.stores {
  requires static io.nereid.locks;
  requires transitive io.nereid.runtime;
  requires java.net.http;
  requires java.xml;
  requires tools.jackson.core;

  exports io.nereid.stores;

  provides io.nereid.model.ModelStore.Provider with
      io.nereid.stores.RemoteModelStore.Opener;
}
