package io.nereid.internal.model;

import io.nereid.internal.loader.LibraryFiles;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The JVM that a child starts for models of backends in Java: this one's, with its classes and
 * properties, a small heap, and no files that remain when it dies. Any thread may call.
 */
final class ChildJvm {

  /** The operator's further options, with blanks between them. */
  static final String OPTIONS = "nereid.isolation.jvm";

  private static final String HEAP = "isolation_heap_mb";
  private static final String MEMORY = "isolation_memory_mb";
  private static final long DEFAULT_HEAP_MB = 256;
  private static final long LEAST_MB = 16;

  /** Properties that each JVM finds out by itself, or that options set. */
  private static final Pattern OF_JVM =
      Pattern.compile(
          "(?!java\\.library\\.path)(java|jdk|sun|os|user|file|path|line|native|stdout|stderr|stdin)\\..*|"
              + OPTIONS);

  private ChildJvm() {}

  /** Adds the parameters for starting the JVM, and the model. */
  static void addParameters(ModelSpec spec, Optional<Path> core, Map<String, String> parameters) {
    checkClassPath(spec);
    Path library = Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
    if (!Files.isRegularFile(library)) {
      throw Isolation.impossible(spec, "there is no " + library + " to start a JVM with");
    }
    parameters.put("isolation.core", LibraryFiles.nativeLibrary(core).toString());
    parameters.put("isolation.jvm", library.toString());
    parameters.put("isolation.jvm_options", String.join("\n", options(spec)) + "\n");
    parameters.put(SpecText.PARAMETER, SpecText.write(spec));
  }

  /** Throws unless the JVM's own loader finds the backend: another JVM has no other. */
  private static void checkClassPath(ModelSpec spec) {
    if (ChildJvm.class.getClassLoader() != ClassLoader.getSystemClassLoader()) {
      throw Isolation.impossible(
          spec,
          "its process finds classes on the class path or module path alone, and this program has"
              + " Nereid from "
              + ChildJvm.class.getClassLoader()
              + "; a fat jar has to be unpacked for that");
    }
  }

  private static List<String> options(ModelSpec spec) {
    List<String> options = new ArrayList<>();
    options.add("-Djava.class.path=" + System.getProperty("java.class.path", ""));
    addModules(options);
    Properties properties = System.getProperties();
    properties.stringPropertyNames().stream()
        .filter(name -> !OF_JVM.matcher(name).matches())
        .map(name -> "-D" + name + "=" + properties.getProperty(name))
        .filter(option -> option.indexOf('\n') < 0)
        .forEach(options::add);
    options.add("-Xmx" + heapMegabytes(spec) + "m");
    options.addAll(
        List.of(
            "-Xms8m",
            "-XX:+UseSerialGC",
            "-XX:+UseCompactObjectHeaders",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-XX:ErrorFile=/dev/null"));
    options.addAll(
        Stream.of(System.getProperty(OPTIONS, "").split("\\s+"))
            .filter(option -> !option.isEmpty())
            .toList());
    return options;
  }

  /** Gives the child this JVM's modules, with native access for the same ones. */
  private static void addModules(List<String> options) {
    Module own = ChildJvm.class.getModule();
    String natives = "ALL-UNNAMED";
    if (own.isNamed()) {
      String path = System.getProperty("jdk.module.path");
      if (path != null) {
        options.add("--module-path=" + path);
      }
      options.add("--add-modules=" + names(ModuleLayer.boot().modules().stream()));
      natives =
          names(
              Stream.concat(
                  Stream.of(own),
                  ModuleLayer.boot().modules().stream()
                      .filter(module -> module != own && module.isNativeAccessEnabled())));
      Module unnamed = ClassLoader.getSystemClassLoader().getUnnamedModule();
      natives += unnamed.isNativeAccessEnabled() ? ",ALL-UNNAMED" : "";
    }
    options.add("--enable-native-access=" + natives);
  }

  private static String names(Stream<Module> modules) {
    return modules.map(Module::getName).collect(Collectors.joining(","));
  }

  private static long heapMegabytes(ModelSpec spec) {
    String memory = spec.parameters().getOrDefault(MEMORY, "0");
    long half = memory.matches("[1-9]\\d{0,8}") ? Long.parseLong(memory) / 2 : DEFAULT_HEAP_MB;
    String heap = spec.parameters().getOrDefault(HEAP, Long.toString(Math.max(LEAST_MB, half)));
    if (!heap.matches("\\d{1,9}") || Long.parseLong(heap) < LEAST_MB) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "parameter %s of model '%s' is \"%s\", expected a number of megabytes from %s"
              .formatted(HEAP, spec.name(), heap, LEAST_MB));
    }
    return Long.parseLong(heap);
  }
}
