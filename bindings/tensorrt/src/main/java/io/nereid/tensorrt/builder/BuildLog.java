package io.nereid.tensorrt.builder;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.tensorrt.LoggerObject;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;

/**
 * TensorRT's messages during a build: warnings and errors go to the log of the program, and the
 * last errors are kept, because its functions report no reason of a failure. Called from threads of
 * TensorRT; made only after TensorRT was loaded.
 */
final class BuildLog {

  static final System.Logger LOGGER = System.getLogger("io.nereid.tensorrt.builder");
  private static final int KEPT = 3;

  @GuardedBy("this")
  private final Deque<String> errors = new ArrayDeque<>();

  private final ILogger logger = LoggerObject.of(this::log);

  ILogger logger() {
    return logger;
  }

  private void log(Severity severity, String message) {
    Level level = LoggerObject.level(severity);
    LOGGER.log(level, message);
    if (level == Level.ERROR) {
      keep(message);
    }
  }

  private synchronized void keep(String message) {
    if (errors.size() == KEPT) {
      errors.removeFirst();
    }
    errors.addLast(message.strip());
  }

  synchronized boolean isClean() {
    return errors.isEmpty();
  }

  /** A failure with the last errors. */
  synchronized NereidException failure(String what) {
    String why = errors.isEmpty() ? "TensorRT does not say why" : String.join("; ", errors);
    return new NereidException(StatusCode.INTERNAL, what + ": " + why);
  }
}
