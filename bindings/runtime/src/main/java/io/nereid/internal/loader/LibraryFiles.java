package io.nereid.internal.loader;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** Finds the shared libraries that Nereid loads. */
public final class LibraryFiles {

  static final String NATIVE_PROPERTY = "nereid.native.path";
  static final String ONNXRUNTIME_PROPERTY = "nereid.onnxruntime.path";
  static final String ONNXRUNTIME_RESOURCE = "ai/onnxruntime/native/linux-x64/libonnxruntime.so";

  /** The name by which plug-ins ask for it. */
  private static final String PLUGIN_LIBRARY = "libtritonserver.so";

  private static final Object LOCK = new Object();
  private static Path unpackedOnnxruntime;

  private LibraryFiles() {}

  /** Nereid's own library: the option's, the property's, or the one in the jar. */
  public static Path nativeLibrary(Optional<Path> option) {
    Optional<Path> chosen = option.or(() -> property(NATIVE_PROPERTY));
    if (chosen.isPresent()) {
      return existing(chosen.get(), "native library");
    }
    return bundled("libnereid.so");
  }

  /**
   * The library that runs Triton's plug-ins: the one beside the core's where that was named, else
   * the one in the jar.
   */
  public static Path pluginLibrary(Optional<Path> nativeOption) {
    Optional<Path> beside =
        nativeOption
            .or(() -> property(NATIVE_PROPERTY))
            .map(core -> core.toAbsolutePath().resolveSibling(PLUGIN_LIBRARY))
            .filter(Files::isRegularFile);
    return beside.orElseGet(() -> bundled(PLUGIN_LIBRARY));
  }

  private static Path bundled(String name) {
    String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
    String resource = "META-INF/native/" + platform + "/" + name;
    URL url = LibraryFiles.class.getClassLoader().getResource(resource);
    if (url == null) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "this build of Nereid has no native library for "
              + platform
              + " ("
              + resource
              + "); -D"
              + NATIVE_PROPERTY
              + "=<file> names one");
    }
    return unpack(url, name);
  }

  /** ONNX Runtime's library: the option's, the property's, or the one in its jar. */
  public static Path onnxruntime(Optional<Path> option) {
    Optional<Path> chosen = option.or(() -> property(ONNXRUNTIME_PROPERTY));
    if (chosen.isPresent()) {
      return existing(chosen.get(), "ONNX Runtime library");
    }
    synchronized (LOCK) {
      if (unpackedOnnxruntime == null || !Files.isRegularFile(unpackedOnnxruntime)) {
        unpackedOnnxruntime = unpack(onnxruntimeResource(), "libonnxruntime.so");
      }
      return unpackedOnnxruntime;
    }
  }

  private static URL onnxruntimeResource() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    URL url = context == null ? null : context.getResource(ONNXRUNTIME_RESOURCE);
    if (url == null) {
      url = LibraryFiles.class.getClassLoader().getResource(ONNXRUNTIME_RESOURCE);
    }
    if (url == null) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "there is no ONNX Runtime: add com.microsoft.onnxruntime:onnxruntime to the class path "
              + "(it brings "
              + ONNXRUNTIME_RESOURCE
              + "), or name the library with -D"
              + ONNXRUNTIME_PROPERTY
              + "=<file>");
    }
    return url;
  }

  /** The directory name of a supported platform. */
  static String platform(String osName, String osArch) {
    boolean linux = osName.toLowerCase(Locale.ROOT).startsWith("linux");
    boolean x86 = osArch.equals("amd64") || osArch.equals("x86_64");
    if (!linux || !x86) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "Nereid's native library is for Linux on x86-64 (glibc), and this is "
              + osName
              + " on "
              + osArch
              + ": run the program in a container for linux/amd64, or ask a server by"
              + " nereid-client, which is all Java; -D"
              + NATIVE_PROPERTY
              + "=<file> names a library of your own build");
    }
    return "linux-x86_64";
  }

  private static Optional<Path> property(String name) {
    String value = System.getProperty(name);
    return value == null || value.isBlank() ? Optional.empty() : Optional.of(Path.of(value));
  }

  private static Path existing(Path path, String what) {
    Path absolute = path.toAbsolutePath();
    if (!Files.isRegularFile(absolute)) {
      throw new NereidException(StatusCode.NOT_FOUND, "there is no " + what + " at " + absolute);
    }
    return absolute;
  }

  private static Path unpack(URL url, String name) {
    try {
      return UnpackedFile.of(new Resource(url), name);
    } catch (IOException e) {
      throw new NereidException(StatusCode.INTERNAL, "cannot unpack " + url, e);
    }
  }

  private record Resource(URL url) implements UnpackedFile.Source {
    @Override
    public InputStream open() throws IOException {
      return url.openStream();
    }

    @Override
    public Checksum checksum() throws IOException {
      return Checksum.of(url);
    }
  }
}
