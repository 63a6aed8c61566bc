package io.nereid.internal.loader;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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

  /** The advice for a user of a platform without libraries. */
  private static final String ELSEWHERE =
      "run the program in a container for linux/amd64, or ask a server by nereid-client, which is"
          + " all Java; -D"
          + NATIVE_PROPERTY
          + "=<file> names a library of your own build";

  /** The file name under which plug-ins look for the plug-in library. */
  private static final String PLUGIN_LIBRARY = "libtritonserver.so";

  private static final String CHILD_PROGRAM = "nereid-child";

  private static final Object LOCK = new Object();

  @GuardedBy("LOCK")
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
   * The library that runs Triton's plug-ins: beside the core's library if that was named, else in
   * the jar.
   */
  public static Path pluginLibrary(Optional<Path> nativeOption) {
    Optional<Path> beside =
        nativeOption
            .or(() -> property(NATIVE_PROPERTY))
            .map(core -> core.toAbsolutePath().resolveSibling(PLUGIN_LIBRARY))
            .filter(Files::isRegularFile);
    return beside.orElseGet(() -> bundled(PLUGIN_LIBRARY));
  }

  /** The program that an isolated model runs in, found as {@link #pluginLibrary} is. */
  public static Path childProgram(Optional<Path> nativeOption) {
    Optional<Path> beside =
        nativeOption
            .or(() -> property(NATIVE_PROPERTY))
            .map(core -> core.toAbsolutePath().resolveSibling(CHILD_PROGRAM))
            .filter(Files::isRegularFile);
    return beside.orElseGet(() -> {
      Path unpacked = bundled(CHILD_PROGRAM);
      // If the file system refuses the permission, starting the program fails with a message.
      unpacked.toFile().setExecutable(true, true);
      return unpacked;
    });
  }

  private static Path bundled(String name) {
    String platform = platform().directory();
    String resource = "META-INF/native/" + platform + "/" + name;
    URL url = LibraryFiles.class.getClassLoader().getResource(resource);
    if (url == null) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          ("this jar of Nereid was made without the native library for %s (%s): take one that "
                  + "has it, %s")
              .formatted(platform, resource, ELSEWHERE));
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
    String resource = "ai/onnxruntime/native/" + platform().onnxruntime() + "/libonnxruntime.so";
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    URL url = context == null ? null : context.getResource(resource);
    if (url == null) {
      url = LibraryFiles.class.getClassLoader().getResource(resource);
    }
    if (url == null) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          ("there is no ONNX Runtime: add com.microsoft.onnxruntime:onnxruntime to the class "
                  + "path (it brings %s), or name the library with -D%s=<file>")
              .formatted(resource, ONNXRUNTIME_PROPERTY));
    }
    return url;
  }

  /**
   * A platform for which there are libraries.
   *
   * @param directory the directory of Nereid's libraries in its jar
   * @param onnxruntime the path of ONNX Runtime's library in its jar
   */
  record Platform(String directory, String onnxruntime) {}

  private static Platform platform() {
    return platform(System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  /** The platform with Java's names for system and architecture. */
  static Platform platform(String osName, String osArch) {
    if (osName.toLowerCase(Locale.ROOT).startsWith("linux")) {
      switch (osArch) {
        case "amd64", "x86_64" -> {
          return new Platform("linux-x86_64", "linux-x64");
        }
        case "aarch64" -> {
          return new Platform("linux-aarch64", "linux-aarch64");
        }
        default -> {}
      }
    }
    throw new NereidException(
        StatusCode.UNIMPLEMENTED,
        ("Nereid's native library is for Linux on x86-64 and aarch64 (glibc), and this is %s "
                + "on %s: %s")
            .formatted(osName, osArch, ELSEWHERE));
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
