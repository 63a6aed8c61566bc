package io.nereid.tensorrt;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;

/**
 * Hands TensorRT's messages to Java's log {@code io.nereid.tensorrt}. TensorRT says why something
 * failed only here, on the thread that called it: {@link #errorsOf} collects that.
 */
final class TensorRtLog {

  static final Logger LOGGER = System.getLogger("io.nereid.tensorrt");

  /** Enough for any message of ours; TensorRT can repeat itself for each layer. */
  private static final int MAX_LINES = 8;

  private static final ThreadLocal<List<String>> ERRORS = new ThreadLocal<>();

  private TensorRtLog() {}

  private static final class Holder {
    private static final ILogger LOG = LoggerObject.of(TensorRtLog::log);
  }

  /** The log; only after TensorRT was loaded. */
  static ILogger instance() {
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

  private static void log(Severity severity, String message) {
    List<String> errors = ERRORS.get();
    if (errors != null && isError(severity) && errors.size() < MAX_LINES) {
      errors.add(message);
    }
    LOGGER.log(level(severity), () -> "TensorRT: " + message);
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
