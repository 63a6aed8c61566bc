package io.nereid.tensorrt.builder;

import java.util.ArrayDeque;
import java.util.Deque;
import org.bytedeco.tensorrt.nvinfer.ILogger;

/**
 * What a network refers to beside itself: TensorRT reads weights where they are until its build is
 * over, so whoever owns them must live as long.
 */
public final class BuildScope implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger("io.nereid.tensorrt.builder");

  private final ILogger logger;
  private final Deque<AutoCloseable> kept = new ArrayDeque<>();

  BuildScope(ILogger logger) {
    this.logger = logger;
  }

  /** For what else of TensorRT is made. */
  public ILogger logger() {
    return logger;
  }

  /** Closes it after the build, before the network is deleted; what was kept last comes first. */
  public <T extends AutoCloseable> T keep(T owner) {
    kept.push(owner);
    return owner;
  }

  /** After the build; whatever fails, the rest is closed. */
  @Override
  public void close() {
    while (!kept.isEmpty()) {
      try {
        kept.pop().close();
      } catch (Exception e) {
        LOGGER.log(System.Logger.Level.WARNING, "cannot close what a network was made of", e);
      }
    }
  }
}
