package io.nereid;

import io.nereid.backend.Backend;
import java.util.Optional;
import java.util.ServiceLoader;

/** Finds the backend that a model names. */
final class BackendFinder {

  private static final String TENSORRT = "tensorrt";

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
    return ServiceLoader.load(Backend.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(backend -> backend.name().equals(name))
        .findFirst();
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
                + "' needs the backend 'tensorrt', which this version of Nereid does not have");
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
