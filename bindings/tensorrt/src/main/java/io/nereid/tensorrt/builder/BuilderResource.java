package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The libraries that TensorRT opens by their bare names when it builds: the one with the kernels
 * that it chooses from, and its lean runtime, which a version-compatible plan carries. Their names
 * do not let libraries that were loaded before satisfy them, so they must be where the system's
 * loader looks, which is decided when the process starts.
 */
final class BuilderResource {

  static final String LEAN_RUNTIME = TensorRtMajor.HERE.library("nvinfer_lean");

  private BuilderResource() {}

  /** Throws early and with advice if a library is missing, where TensorRT would fail late. */
  static void require(TensorRtLibrary library, BuildOptions options) {
    Path directory = Path.of(library.location()).getParent();
    String kernels = "libnvinfer_builder_resource.so." + library.version();
    // Another place, or one split by architecture as in later versions, is left to TensorRT.
    if (directory != null && Files.exists(directory.resolve(kernels))) {
      requireFound(kernels, directory);
    }
    if (options.versionCompatible()) {
      requireLeanRuntime(directory);
    }
  }

  /** {@code directory} is that of TensorRT; null: unknown. */
  static void requireLeanRuntime(Path directory) {
    if (directory != null && Files.exists(directory.resolve(LEAN_RUNTIME))) {
      requireFound(LEAN_RUNTIME, directory);
    } else if (!isFound(LEAN_RUNTIME)) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          ("a version-compatible plan carries TensorRT's lean runtime, and %s is"
                  + " neither beside TensorRT%s nor where the system's loader looks: take it"
                  + " from NVIDIA's TensorRT of the same version (JavaCPP's jars do not have"
                  + " it), or build without --version-compatible")
              .formatted(LEAN_RUNTIME, directory == null ? "" : " in " + directory));
    }
  }

  private static void requireFound(String file, Path directory) {
    if (!isFound(file)) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          ("TensorRT's builder opens %s by its name, and the system's loader does not"
                  + " find it although it is in %s: start again with LD_LIBRARY_PATH=%s (the"
                  + " command nereid does so itself when NEREID_TENSORRT_DIR names it)")
              .formatted(file, directory, directory));
    }
  }

  @SuppressWarnings("restricted")
  private static boolean isFound(String file) {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(file, arena);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
