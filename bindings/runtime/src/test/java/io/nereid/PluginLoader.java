package io.nereid;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Defines one class itself, with its resources in a directory: the loader of a plugin's jar. */
final class PluginLoader extends URLClassLoader {

  private final String own;

  PluginLoader(Path directory, String own) throws MalformedURLException {
    super(new URL[] {directory.toUri().toURL()}, PluginLoader.class.getClassLoader());
    this.own = own;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.equals(own)) {
      return super.loadClass(name, resolve);
    }
    Class<?> loaded = findLoadedClass(name);
    return loaded == null ? define(name) : loaded;
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String resource = "/" + name.replace('.', '/') + ".class";
    try (InputStream in = PluginLoader.class.getResourceAsStream(resource)) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
