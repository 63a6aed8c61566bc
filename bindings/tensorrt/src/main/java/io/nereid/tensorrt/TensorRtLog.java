package io.nereid.tensorrt;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.tensorrt.nvinfer.ILogger;

/**
 * Hands TensorRT's messages to Java's log {@code io.nereid.tensorrt}. TensorRT says why something
 * failed only here, on the thread that called it: {@link #errorsOf} collects that.
 *
 * <p>One object for the whole process, never freed: TensorRT keeps the first that it is given.
 */
final class TensorRtLog extends ILogger {

  static final Logger LOGGER = System.getLogger("io.nereid.tensorrt");

  /** Enough for any message of ours; TensorRT can repeat itself for each layer. */
  private static final int MAX_LINES = 8;

  private static final ThreadLocal<List<String>> ERRORS = new ThreadLocal<>();

  private TensorRtLog() {
    retainReference(); // else a PointerScope of the calling thread would free it
  }

  private static final class Holder {
    private static final TensorRtLog LOG = new TensorRtLog();
  }

  /** The log; only after TensorRT was loaded. */
  static TensorRtLog instance() {
    return Holder.LOG;
  }

  /**
   * Runs something that calls TensorRT.
   *
   * @param errors what TensorRT logs as an error on this thread meanwhile is added here
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

  /** As {@link #errorsOf}, with a new list. */
  static List<String> newList() {
    return new ArrayList<>();
  }

  @Override
  public void log(Severity severity, String message) {
    // Called from C++: nothing may be thrown out of here.
    try {
      Severity known = severity.intern();
      List<String> errors = ERRORS.get();
      if (errors != null && isError(known) && errors.size() < MAX_LINES) {
        errors.add(message);
      }
      LOGGER.log(level(known), () -> "TensorRT: " + message);
    } catch (Throwable t) {
      // There is nobody to tell.
    }
  }

  private static boolean isError(Severity severity) {
    return severity == Severity.kINTERNAL_ERROR || severity == Severity.kERROR;
  }

  private static Level level(Severity severity) {
    return switch (severity) {
      case kINTERNAL_ERROR, kERROR -> Level.ERROR;
      case kWARNING -> Level.WARNING;
      case kINFO -> Level.DEBUG;
      case kVERBOSE -> Level.TRACE;
    };
  }
}
