package io.nereid.tensorrt.builder;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.tensorrt.TensorRtLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The library with the kernels that the builder chooses from. TensorRT opens it by its bare name
 * when it builds, and it has no such name that one loaded before could be found by: so it must be
 * where the system's loader looks, which is decided when the process starts.
 */
final class BuilderResource {

  private BuilderResource() {}

  /** Fails early, and with what to do, where TensorRT would fail late. */
  static void require(TensorRtLibrary library) {
    String file = "libnvinfer_builder_resource.so." + library.version();
    Path directory = Path.of(library.location()).getParent();
    // In another place, or split by architecture as later versions are: TensorRT knows better.
    if (directory == null || !Files.exists(directory.resolve(file)) || isFound(file)) {
      return;
    }
    throw new NereidException(
        StatusCode.FAILED_PRECONDITION,
        "TensorRT's builder opens "
            + file
            + " by its name, and the system's loader does not look in "
            + directory
            + ": start again with LD_LIBRARY_PATH="
            + directory
            + " (the command nereid does so itself when NEREID_TENSORRT_DIR names it)");
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
