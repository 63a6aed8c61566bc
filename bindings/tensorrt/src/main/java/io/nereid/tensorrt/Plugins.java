package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.global.nvinfer;

/** Libraries of plugins that an operator names. Each is loaded once and stays loaded. */
public final class Plugins {

  @GuardedBy("Plugins.class")
  private static final Set<Path> LOADED = new HashSet<>();

  private Plugins() {}

  /**
   * Loads libraries that are not loaded yet; TensorRT finds the plugins that they register. Called
   * only after TensorRT has a logger.
   */
  public static synchronized void load(List<Path> libraries, String namedBy) {
    for (Path library : libraries) {
      if (LOADED.contains(library)) {
        continue;
      }
      if (!Files.isRegularFile(library)) {
        throw new NereidException(
            StatusCode.NOT_FOUND,
            "there is no library of plugins at " + library + ", which " + namedBy + " names");
      }
      List<String> log = new ArrayList<>();
      // Registered in the process's registry, not in a runtime's, which ends with the runtime.
      Pointer handle =
          TensorRtLog.errorsOf(
              log, () -> nvinfer.getPluginRegistry().loadLibrary(library.toString()));
      // Older plugins register themselves when their library is opened.
      if ((handle == null || handle.isNull()) && !LibraryFinder.isOpened(library)) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "TensorRT cannot load the plugins in "
                + library
                + ": "
                + (log.isEmpty() ? "expected a library that it or its loader accepts" : log));
      }
      LOADED.add(library);
    }
  }
}
