package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.LoggerObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;

/**
 * TensorRT's messages during a build: warnings and errors go to the log of the program, and the
 * last errors are kept, because its functions say no more than that they failed. Called from
 * threads of TensorRT.
 */
final class BuildLog {

  static final System.Logger LOGGER = System.getLogger("io.nereid.tensorrt.builder");
  private static final int KEPT = 3;

  private final Deque<String> errors = new ArrayDeque<>();

  private final ILogger logger = LoggerObject.of(this::log);

  private BuildLog() {}

  /** One for a build; only after TensorRT was loaded. */
  static BuildLog create() {
    return new BuildLog();
  }

  /** The logger that TensorRT is given. */
  ILogger logger() {
    return logger;
  }

  private void log(Severity severity, String message) {
    switch (severity) {
      case kINTERNAL_ERROR, kERROR -> keep(message);
      case kWARNING -> LOGGER.log(System.Logger.Level.WARNING, message);
      case kINFO -> LOGGER.log(System.Logger.Level.DEBUG, message);
      case kVERBOSE -> LOGGER.log(System.Logger.Level.TRACE, message);
    }
  }

  private synchronized void keep(String message) {
    LOGGER.log(System.Logger.Level.ERROR, message);
    if (errors.size() == KEPT) {
      errors.removeFirst();
    }
    errors.addLast(message.strip());
  }

  /** True if there was none so far. */
  synchronized boolean isClean() {
    return errors.isEmpty();
  }

  /** The last errors, in one line. */
  synchronized String lastErrors() {
    return errors.isEmpty() ? "TensorRT does not say why" : String.join("; ", List.copyOf(errors));
  }
}
