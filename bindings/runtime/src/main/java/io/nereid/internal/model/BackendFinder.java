package io.nereid.internal.model;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.Backend;
import io.nereid.model.Batcher;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;

/**
 * Finds the Java backend and the batcher that a model names: as an object, announced to
 * ServiceLoader, or by its class.
 */
final class BackendFinder {

  /** The backends in Java that have an artifact of their own. */
  private static final Map<String, String> ARTIFACTS =
      Map.of("tensorrt", "io.nereid:nereid-tensorrt", "text", "io.nereid:nereid-text");

  /** The Python backend has its own advice, and is never in Java. */
  private static final String PYTHON = "python";

  /** The limit stops the search when one unreadable announcement comes again and again. */
  private static final int MAX_UNUSABLE = 100;

  private BackendFinder() {}

  /**
   * The Java backend of a model; empty when the core has one of that name.
   *
   * @param plugins tells where plug-ins were looked for
   */
  static Optional<Backend> find(ModelSpec spec, PluginRuntime plugins) {
    return isIsolated(spec)
        ? Optional.empty() // the core's own backend runs the Java backend in another process
        : found(spec, plugins).map(backend -> backend.forModel(spec));
  }

  /** The Java backend of a model that is known to have one. */
  static Backend inJava(ModelSpec spec) {
    String name = spec.backendName();
    return announced(name).orElseGet(() -> ofClass(Backend.class, "backend", name, spec));
  }

  private static Optional<Backend> found(ModelSpec spec, PluginRuntime plugins) {
    if (spec.backend().isPresent()) {
      return spec.backend();
    }
    String name = spec.backendName();
    if (BackendRecord.isThere(name)) {
      return Optional.empty();
    }
    PluginRuntime.Model model =
        new PluginRuntime.Model(spec.name(), name, Optional.empty(), spec.version(), "");
    Optional<Backend> announced = announced(name);
    if (announced.isEmpty() && ARTIFACTS.containsKey(name)) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "model '" + spec.name() + "' needs the backend '" + name + "'" + missing(model, plugins));
    }
    try {
      return Optional.of(announced.orElseGet(() -> inJava(spec)));
    } catch (NereidException e) {
      if (e.code() != StatusCode.NOT_FOUND) {
        throw e;
      }
      throw new NereidException(
          e.code(), e.getMessage() + ", nor a plug-in" + missing(model, plugins));
    }
  }

  /** The core's backend of a model, in this process or in one of its own. */
  static BackendRecord ofCore(Arena arena, NativeRuntime runtime, ModelSpec spec) {
    return spec.parameters().containsKey(Isolation.PARAMETER)
        ? Isolation.backend(arena, runtime, spec, nameInCore(spec))
        : BackendRecord.get(arena, spec.backendName());
  }

  /** The core's name for the backend of a model that may be isolated. */
  static String nameInCore(ModelSpec spec) {
    return isIsolated(spec) ? Isolation.JAVA : spec.backendName();
  }

  /** True if a model with a backend in Java is to run in a process of its own. */
  static boolean isIsolated(ModelSpec spec) {
    if (!spec.parameters().containsKey(Isolation.PARAMETER) || !Isolation.isWanted(spec)) {
      return false;
    }
    if (spec.backend().isPresent()) {
      throw Isolation.impossible(
          spec,
          "its backend is an object of this program, which no other process has; name a class with"
              + " a public constructor without parameters, or one that ServiceLoader finds");
    }
    return !BackendRecord.isThere(spec.backendName()) && isJava(spec.backendName());
  }

  /**
   * Returns the reason why a model's backend cannot be found, and the way to get it; the text
   * follows the name of the backend.
   */
  static String missing(PluginRuntime.Model model, PluginRuntime plugins) {
    String name = model.backend();
    if (ARTIFACTS.containsKey(name)) {
      return ", which is not on the class path: add "
          + ARTIFACTS.get(name)
          + " and what it needs, on the command line by NEREID_CLASS_PATH='DIR/*'";
    }
    String text = ": " + plugins.missing(model);
    return name.equals(PYTHON)
        ? text
        : text
            + ". One in Java is looked for on the class path, to which NEREID_CLASS_PATH='DIR/*'"
            + " adds jars on the command line";
  }

  private static Optional<Backend> announced(String name) {
    return announced(ServiceLoader.load(Backend.class).iterator(), Backend::name, name);
  }

  /**
   * Returns the sentences that the Java backend of a model says about its files; none if it has no
   * such backend.
   */
  static List<String> inspect(ModelDraft draft) {
    Optional<ModelSpec> spec =
        switch (draft) {
          case ModelDraft.Whole whole -> Optional.of(whole.spec());
          case ModelDraft.Partial partial -> Optional.of(partial.opening());
          case ModelDraft.Broken _, PluginDraft _ -> Optional.empty();
        };
    return spec.flatMap(
            one -> one.backend().or(() -> announced(one.backendName())).map(b -> b.inspect(one)))
        .orElse(List.of());
  }

  /** True if there is a backend in Java of this name, or class. */
  static boolean isJava(String name) {
    if (announced(name).isPresent()) {
      return true;
    }
    try {
      return Backend.class.isAssignableFrom(Class.forName(name, false, loader()));
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  /** True if a plug-in runs a model: Nereid's own backend wins, unless the plug-in is asked for. */
  static boolean isPlugin(PluginRuntime plugins, PluginRuntime.Model model) {
    String name = model.backend();
    if (plugins.options().prefersPlugin(name)) {
      return true;
    }
    return !BackendRecord.isThere(name)
        && announced(name).isEmpty()
        && plugins.find(model).isPresent();
  }

  /** The batcher of a model; empty when it has none. */
  static Optional<Batcher> findBatcher(ModelSpec spec) {
    String name = spec.batcherName();
    if (spec.batcher().isPresent() || name.isEmpty()) {
      return spec.batcher();
    }
    Iterator<Batcher> all = ServiceLoader.load(Batcher.class).iterator();
    return Optional.of(
        announced(all, Batcher::name, name)
            .orElseGet(() -> ofClass(Batcher.class, "batcher", name, spec)));
  }

  private static <T> Optional<T> announced(
      Iterator<T> services, Function<T, String> nameOf, String name) {
    for (int unusable = 0; unusable < MAX_UNUSABLE; ) {
      try {
        if (!services.hasNext()) {
          return Optional.empty();
        }
        T service = services.next();
        if (nameOf.apply(service).equals(name)) {
          return Optional.of(service);
        }
      } catch (ServiceConfigurationError e) {
        // A service that cannot be made must not hide the others.
        CoreLog.LOGGER.log(Level.WARNING, "a Java service is announced but unusable", e);
        unusable++;
      }
    }
    return Optional.empty();
  }

  private static <T> T ofClass(Class<T> type, String what, String name, ModelSpec spec) {
    try {
      return Class.forName(name, false, loader()).asSubclass(type).getConstructor().newInstance();
    } catch (ClassNotFoundException e) {
      throw unknown(what, name, spec);
    } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "class " + name + " cannot be the " + what + " of model '" + spec.name() + "'",
          e);
    }
  }

  private static ClassLoader loader() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    return context == null ? BackendFinder.class.getClassLoader() : context;
  }

  private static NereidException unknown(String what, String name, ModelSpec spec) {
    boolean backend = what.equals("backend");
    return new NereidException(
        StatusCode.NOT_FOUND,
        ("unknown %s '%s' of model '%s': it is neither %sthe name of an announced Java %s, "
                + "nor a class")
            .formatted(what, name, spec.name(), backend ? "one of the core's, nor " : "", what));
  }
}
