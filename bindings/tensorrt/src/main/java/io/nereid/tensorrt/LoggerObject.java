package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;

/**
 * Hands TensorRT's messages to a function, on whichever thread TensorRT logs them. TensorRT uses
 * the first logger for the whole process, and any logger as long as objects exist that were made
 * with it. So loggers, which are small and few, are never freed.
 *
 * <p>JavaCPP's own class cannot be extended for TensorRT 11, which asks a logger for its version:
 * that method of the class recurses without end.
 */
public final class LoggerObject {

  private static final long LONGEST_MESSAGE = 1 << 20;

  private static final Queue<LoggerObject> ALL = new ConcurrentLinkedQueue<>();

  private final BiConsumer<Severity, String> sink;
  private final NativeInterface object;

  private LoggerObject(BiConsumer<Severity, String> sink) {
    this.sink = sink;
    object =
        new NativeInterface(
            TensorRtMajor.HERE.loggerType(),
            NativeInterface.function(
                MethodHandles.lookup(), this, "log", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS)));
  }

  /**
   * Makes a logger; called only after TensorRT was loaded.
   *
   * @param sink takes messages; its exceptions are dropped, as C++ could not handle them
   */
  public static ILogger of(BiConsumer<Severity, String> sink) {
    LoggerObject logger = new LoggerObject(sink);
    ALL.add(logger);
    return new ILogger(logger.object.address());
  }

  /** Java's level for a severity of TensorRT. */
  public static Level level(Severity severity) {
    return switch (severity) {
      case kINTERNAL_ERROR, kERROR -> Level.ERROR;
      case kWARNING -> Level.WARNING;
      case kINFO -> Level.DEBUG;
      case kVERBOSE -> Level.TRACE;
    };
  }

  @SuppressWarnings("restricted")
  private void log(int severity, MemorySegment message) {
    try {
      sink.accept(Severity.values()[severity], message.reinterpret(LONGEST_MESSAGE).getString(0));
    } catch (Throwable t) {
      // The exception cannot be reported.
    }
  }
}
