package io.nereid.triton;

import io.nereid.internal.model.PluginRuntime;
import io.nereid.model.PluginOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds plug-ins in the places where Triton looks for them. Any thread may call; every call looks
 * at the disk.
 */
final class PluginSearch {

  private static final String PYTHON = "python";

  /** The file, in place of a library, of a backend that runs in the Python backend. */
  private static final String PYTHON_MODEL = "model.py";

  private final PluginOptions options;

  /** Makes a search in the options' directories. */
  PluginSearch(PluginOptions options) {
    this.options = options;
  }

  /** The places where the backend of a model may be, in the order of the search. */
  private List<Path> places(PluginRuntime.Model model) {
    List<Path> places = new ArrayList<>();
    model
        .directory()
        .ifPresent(own -> {
          places.add(own.resolve(Long.toString(model.version())));
          places.add(own);
        });
    places.add(options.backendDirectory().resolve(model.backend()));
    return places;
  }

  private static List<String> files(PluginRuntime.Model model) {
    return model.runtime().isEmpty()
        ? List.of("libtriton_" + model.backend() + ".so", PYTHON_MODEL)
        : List.of(model.runtime());
  }

  /**
   * A backend that was found.
   *
   * @param directory the directory of its other files
   * @param library the shared library to load
   * @param settings the name of its settings
   */
  record Backend(String name, Path directory, Path library, String settings) {}

  /** Finds the backend of a model; empty: there is none. */
  Optional<Backend> find(PluginRuntime.Model model) {
    checkFileName(model, "runtime", model.runtime());
    checkFileName(model, "backend", model.backend());
    String runtime = model.runtime();
    String library = runtime.isEmpty() ? files(model).getFirst() : runtime;
    if (!library.equals(PYTHON_MODEL)) {
      for (Path place : places(model)) {
        if (Files.isRegularFile(place.resolve(library))) {
          Path found = place.resolve(library);
          return Optional.of(new Backend(model.backend(), place, found, model.backend()));
        }
      }
    }
    if (!runtime.isEmpty() && !library.equals(PYTHON_MODEL)) {
      return Optional.empty();
    }
    return pythonBased(model);
  }

  /** Refuses names that would lead out of the directories of backends. */
  private static void checkFileName(PluginRuntime.Model model, String setting, String name) {
    if (!name.isEmpty() && !isFileName(name)) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected %s of model '%s' to be the name of a file, got '%s'"
              .formatted(setting, model.name(), name));
    }
  }

  /** Finds a backend written in Python, which the Python backend runs. */
  private Optional<Backend> pythonBased(PluginRuntime.Model model) {
    Path backends = options.backendDirectory();
    Path own = backends.resolve(model.backend());
    if (!Files.isRegularFile(own.resolve(PYTHON_MODEL))) {
      return Optional.empty();
    }
    Path library = backends.resolve(PYTHON).resolve("libtriton_python.so");
    if (!Files.isRegularFile(library)) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          ("the backend '%s' of model '%s' is %s, which needs the Python backend: there is no "
                  + "%s. %s")
              .formatted(
                  model.backend(),
                  model.name(),
                  own.resolve(PYTHON_MODEL),
                  library,
                  HOW_TO_GET_PYTHON));
    }
    return Optional.of(new Backend(model.backend(), own, library, PYTHON));
  }

  private static final String HOW_TO_GET_PYTHON =
      "Take the directory 'python' of Triton's backends (in its container image it is"
          + " /opt/tritonserver/backends/python, and its sources are the project python_backend),"
          + " put it into the backend directory, and install Python 3 and numpy";

  /** The Python backend's message about a process that did not start, or died. */
  private static final String NO_STUB = "is not healthy";

  /** Adds advice for the operator to the failure of a load. */
  static NereidException explained(NereidException failure, Backend backend) {
    if (!backend.settings().equals(PYTHON) || !failure.getMessage().contains(NO_STUB)) {
      return failure;
    }
    return new NereidException(
        failure.code(),
        failure.getMessage()
            + " The process "
            + backend.library().resolveSibling("triton_python_backend_stub")
            + " did not start; the server's standard error says why where a library is missing. It"
            + " needs the Python 3 that it was built for, with numpy");
  }

  /**
   * The reason why a model's backend cannot be found, as a sentence to put after a full stop or a
   * colon.
   */
  String missing(PluginRuntime.Model model) {
    Path backends = options.backendDirectory();
    List<String> there = names(backends);
    String text =
        "there is no %s in %s; %s: --backend-directory names another"
            .formatted(
                String.join(" nor ", files(model)),
                String.join(", ", places(model).stream().map(Path::toString).toList()),
                Files.isDirectory(backends)
                    ? "the backend directory has " + (there.isEmpty() ? "none" : there)
                    : "there is no backend directory " + backends);
    return model.backend().equals(PYTHON) ? text + ". " + HOW_TO_GET_PYTHON : text;
  }

  /** The names of the backends in a directory. */
  private static List<String> names(Path directory) {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths
          .filter(Files::isDirectory)
          .map(path -> path.getFileName().toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The library of the response cache with this name. */
  Path cache(String name) {
    return library(options.cacheDirectory(), "libtritoncache_", name, "response cache");
  }

  /** The library of the repository agent with this name. */
  Path agent(String name) {
    return library(options.agentDirectory(), "libtritonrepoagent_", name, "repository agent");
  }

  private static Path library(Path directory, String prefix, String name, String what) {
    String file = prefix + name + ".so";
    boolean isFileName = isFileName(name);
    Path library = directory.resolve(isFileName ? name : "_").resolve(file);
    if (!isFileName || !Files.isRegularFile(library)) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "unable to find '%s' for %s '%s', searched: %s; there are %s"
              .formatted(file, what, name, directory + "/" + name, names(directory)));
    }
    return library;
  }

  /** True if a file in a directory can have the name. */
  private static boolean isFileName(String name) {
    return !name.isBlank() && !name.contains("/") && !name.contains("\0") && !name.equals("..");
  }
}
