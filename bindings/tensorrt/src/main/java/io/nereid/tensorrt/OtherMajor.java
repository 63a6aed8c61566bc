package io.nereid.tensorrt;

import io.nereid.model.Backend;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Serves plans of the version of TensorRT, 10 or 11, for which the class path has no classes. If a
 * directory has JavaCPP's jars for it, this backend is loaded a second time, by a class loader with
 * those jars in place of the class path's. Both then serve in one process. Any thread may call
 * this.
 */
final class OtherMajor {

  /**
   * The property with the directory of JavaCPP's jars; by default one beside the jar of this
   * backend.
   */
  static final String PROPERTY = "nereid.tensorrt.bindings";

  private static final String PATHS_FIRST = "org.bytedeco.javacpp.pathsFirst";

  static final TensorRtMajor MAJOR =
      TensorRtMajor.HERE == TensorRtMajor.TEN ? TensorRtMajor.ELEVEN : TensorRtMajor.TEN;

  /** The other version in this process; a failure means that there are no jars. */
  private static final OneAttempt<OtherMajor> LOADED = new OneAttempt<>(OtherMajor::load);

  /** The other version, once it serves a plan; null before. */
  private static volatile OtherMajor serving;

  private final ClassLoader loader;

  private OtherMajor(ClassLoader loader) {
    this.loader = loader;
  }

  /** The directory where JavaCPP's jars for the other version are expected. */
  static Path directory() {
    String written = System.getProperty(PROPERTY, "");
    if (!written.isBlank()) {
      return Path.of(written.strip()).toAbsolutePath();
    }
    return home().resolveSibling("tensorrt-" + MAJOR.number());
  }

  static Optional<OtherMajor> find() {
    return LOADED.failure().isPresent() ? Optional.empty() : Optional.of(LOADED.get());
  }

  static Optional<OtherMajor> serving() {
    return Optional.ofNullable(serving);
  }

  Backend newBackend() {
    serving = this;
    try {
      return (Backend) type("TensorRtBackend").getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e); // impossible: the class of this package has the method
    }
  }

  /** The reason why the other version cannot be used on this machine; empty: it can. */
  Optional<?> missing() {
    return (Optional<?>) call("TensorRtLibrary", "missing");
  }

  /** Counts the CUDA graphs of a version of a model, hits and misses. */
  GraphStatistics graphStatistics(String model, long version) {
    long[] counts = (long[]) call("TensorRtBackend", "graphCounts", model, version);
    return new GraphStatistics((int) counts[0], counts[1], counts[2]);
  }

  private Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(OtherMajor.class.getPackageName() + "." + name, true, loader);
  }

  /** Calls a static method of this package in the other class loader. */
  private Object call(String type, String name, Object... arguments) {
    try {
      Method method =
          Arrays.stream(type(type).getDeclaredMethods())
              .filter(one -> one.getName().equals(name))
              .findFirst()
              .orElseThrow();
      method.setAccessible(true);
      return method.invoke(null, arguments);
    } catch (ReflectiveOperationException e) {
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : new IllegalStateException(e);
    }
  }

  private static OtherMajor load() {
    Path directory = directory();
    try (Stream<Path> files =
        Files.isDirectory(directory) ? Files.list(directory) : Stream.empty()) {
      List<URL> jars = new ArrayList<>(List.of(home().toUri().toURL()));
      for (Path jar : files.filter(file -> file.toString().endsWith(".jar")).toList()) {
        jars.add(jar.toUri().toURL());
      }
      if (jars.size() == 1) {
        throw new NereidException(StatusCode.UNAVAILABLE, "no jars are in " + directory);
      }
      OtherMajor other = new OtherMajor(new JarLoader(jars.toArray(URL[]::new)));
      // JavaCPP must unpack its native libraries from these jars, even if a directory has unpacked
      // ones, which belong to the classes on the class path. JavaCPP reads the property once.
      LibraryFinder.withProperty(PATHS_FIRST, "false", "org.bytedeco.javacpp.Loader", other.loader);
      return other;
    } catch (IOException | LinkageError e) {
      throw new NereidException(
          StatusCode.UNAVAILABLE, "the jars in " + directory + " cannot be loaded", e);
    }
  }

  /** The jar, or the directory of classes, of this backend. */
  private static Path home() {
    try {
      return Path.of(OtherMajor.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e); // impossible: the JDK made the URL
    }
  }

  /** Loads this backend and JavaCPP itself, and all other classes from the class path. */
  private static final class JarLoader extends URLClassLoader {

    static {
      registerAsParallelCapable();
    }

    JarLoader(URL[] jars) {
      super("tensorrt-" + MAJOR.number(), jars, OtherMajor.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("org.bytedeco.") && !name.startsWith("io.nereid.tensorrt.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }

    /** JavaCPP looks for its native libraries as resources. */
    @Override
    public URL getResource(String name) {
      return name.startsWith("org/bytedeco/") ? findResource(name) : super.getResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      return name.startsWith("org/bytedeco/") ? findResources(name) : super.getResources(name);
    }
  }
}
