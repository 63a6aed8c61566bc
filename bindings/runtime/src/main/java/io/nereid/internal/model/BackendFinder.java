package io.nereid.internal.model;

import io.nereid.internal.ffi.CoreLog;
import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Iterator;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Finds the Java backend that a model names: as an object, announced to ServiceLoader, or by its
 * class.
 */
final class BackendFinder {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private static final String TENSORRT = "tensorrt";

  /** An announcement that cannot be read may come again and again. */
  private static final int MAX_UNUSABLE = 100;

  private BackendFinder() {}

  /** The Java backend of a model; empty when the core has one of that name. */
  static Optional<Backend> find(ModelSpec spec) {
    if (spec.backend().isPresent()) {
      return spec.backend();
    }
    String name = spec.backendName();
    if (CoreBackends.has(name)) {
      return Optional.empty();
    }
    return Optional.of(announced(name).orElseGet(() -> ofClass(spec)));
  }

  private static Optional<Backend> announced(String name) {
    Iterator<Backend> backends = ServiceLoader.load(Backend.class).iterator();
    for (int unusable = 0; unusable < MAX_UNUSABLE; ) {
      try {
        if (!backends.hasNext()) {
          return Optional.empty();
        }
        Backend backend = backends.next();
        if (backend.name().equals(name)) {
          return Optional.of(backend);
        }
      } catch (ServiceConfigurationError e) {
        // One that cannot be made must not hide the others.
        CoreLog.LOGGER.log(Level.WARNING, "a Java backend is announced but unusable", e);
        unusable++;
      }
    }
    return Optional.empty();
  }

  private static Backend ofClass(ModelSpec spec) {
    String name = spec.backendName();
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    ClassLoader loader = context == null ? BackendFinder.class.getClassLoader() : context;
    try {
      return Class.forName(name, false, loader)
          .asSubclass(Backend.class)
          .getConstructor()
          .newInstance();
    } catch (ClassNotFoundException e) {
      if (name.equals(TENSORRT)) {
        throw new NereidException(
            StatusCode.UNAVAILABLE,
            "model '"
                + spec.name()
                + "' needs the backend 'tensorrt', which is not on the class path: add"
                + " io.nereid:nereid-tensorrt");
      }
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "unknown backend '"
              + name
              + "' of model '"
              + spec.name()
              + "': it is neither one of the "
              + "core's, nor the name of an announced Java backend, nor a class");
    } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "class " + name + " cannot be the backend of model '" + spec.name() + "'",
          e);
    }
  }
}
