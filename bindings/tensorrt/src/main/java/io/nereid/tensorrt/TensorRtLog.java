package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;

/**
 * Hands TensorRT's messages to Java's log {@code io.nereid.tensorrt}. TensorRT reports the reason
 * of a failure only through its log, on the calling thread: {@link #errorsOf} collects it.
 */
final class TensorRtLog {

  static final Logger LOGGER = System.getLogger("io.nereid.tensorrt");

  /** The most lines in a message, since TensorRT may repeat an error for each layer. */
  private static final int MAX_LINES = 8;

  private static final ThreadLocal<List<String>> ERRORS = new ThreadLocal<>();

  private TensorRtLog() {}

  private static final class Holder {
    private static final ILogger LOG = LoggerObject.of(TensorRtLog::log);
  }

  /** The log; called only after TensorRT was loaded. */
  static ILogger instance() {
    return Holder.LOG;
  }

  /**
   * Runs something that calls TensorRT.
   *
   * @param errors gets the errors that TensorRT logs on this thread meanwhile
   */
  static <T> T errorsOf(List<String> errors, Supplier<T> call) {
    List<String> outer = ERRORS.get();
    ERRORS.set(errors);
    try {
      return call.get();
    } finally {
      ERRORS.set(outer);
    }
  }

  /** Throws unless a call of TensorRT succeeds. */
  static void require(BooleanSupplier call, String what) {
    List<String> log = new ArrayList<>();
    if (!errorsOf(log, call::getAsBoolean)) {
      throw failure(what, log);
    }
  }

  /** Returns the object that TensorRT makes; throws if that is null. */
  static <T extends Pointer> T made(Supplier<T> making, String what) {
    List<String> log = new ArrayList<>();
    T made = errorsOf(log, making);
    if (Pointer.isNull(made)) {
      throw failure("make " + what, log);
    }
    return made;
  }

  /** The exception for a failure of TensorRT, with its reasons. */
  static NereidException failure(String what, List<String> log) {
    String all = log.isEmpty() ? "it did not say why" : String.join("; ", log);
    return new NereidException(
        isOutOfMemory(all) ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
        "TensorRT cannot " + what + ": " + all);
  }

  /** True if TensorRT's log shows that the device's memory ran out. */
  static boolean isOutOfMemory(String log) {
    return log.contains("OutOfMemory")
        || log.contains("Requested amount of GPU memory")
        || log.contains("out of memory");
  }

  private static void log(Severity severity, String message) {
    Level level = LoggerObject.level(severity);
    List<String> errors = ERRORS.get();
    if (errors != null && level == Level.ERROR && errors.size() < MAX_LINES) {
      errors.add(message);
    }
    LOGGER.log(level, () -> "TensorRT: " + message);
  }
}
