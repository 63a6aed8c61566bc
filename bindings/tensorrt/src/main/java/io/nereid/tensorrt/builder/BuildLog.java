package io.nereid.tensorrt.builder;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.bytedeco.tensorrt.nvinfer.ILogger;

/**
 * TensorRT's messages during a build: warnings and errors go to the log of the program, and the
 * last errors are kept, because its functions say no more than that they failed. Called from
 * threads of TensorRT.
 *
 * <p>TensorRT makes the first logger that it is given the one of the whole process, and may use it
 * as long as anything lives that was made with any. So none is ever freed: they are small, and
 * builds are rare.
 */
final class BuildLog extends ILogger {

  static final System.Logger LOGGER = System.getLogger("io.nereid.tensorrt.builder");
  private static final int KEPT = 3;

  private static final Queue<BuildLog> ALL = new ConcurrentLinkedQueue<>();

  private final Deque<String> errors = new ArrayDeque<>();

  private BuildLog() {
    retainReference(); // else a PointerScope of the calling thread would free it
  }

  /** One for a build; only after TensorRT was loaded. */
  static BuildLog create() {
    BuildLog log = new BuildLog();
    ALL.add(log);
    return log;
  }

  @Override
  public void log(Severity severity, String message) {
    try {
      switch (severity.intern()) {
        case kINTERNAL_ERROR, kERROR -> keep(message);
        case kWARNING -> LOGGER.log(System.Logger.Level.WARNING, message);
        case kINFO -> LOGGER.log(System.Logger.Level.DEBUG, message);
        case kVERBOSE -> LOGGER.log(System.Logger.Level.TRACE, message);
      }
    } catch (RuntimeException e) {
      // A log that fails must not end the process, which is what an exception would do here.
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
