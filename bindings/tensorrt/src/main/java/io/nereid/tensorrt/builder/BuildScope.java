package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INoCopy;

/**
 * The objects that a build makes. TensorRT reads weights where they are until the build is over, so
 * the owner of what a network refers to must live as long.
 */
public final class BuildScope implements AutoCloseable {

  private final BuildLog log;
  private final Deque<AutoCloseable> kept = new ArrayDeque<>();

  BuildScope(BuildLog log) {
    this.log = log;
  }

  /** For what else of TensorRT is made. */
  public ILogger logger() {
    return log.logger();
  }

  /** Closes it after the build, before the network is deleted; what was kept last comes first. */
  public <T extends AutoCloseable> T keep(T owner) {
    kept.push(owner);
    return owner;
  }

  /** Deletes in its turn what TensorRT was asked for. */
  <T extends INoCopy> T own(T object, String what) {
    T made = made(object, what);
    keep(() -> NativeObjects.delete(made));
    return made;
  }

  /** Returns what TensorRT was asked for; it hands out null when it cannot. */
  <T extends Pointer> T made(T object, String what) {
    if (Pointer.isNull(object)) {
      throw log.failure("TensorRT could not make " + what);
    }
    return object;
  }

  /** After the build; whatever fails, the rest is closed. */
  @Override
  public void close() {
    while (!kept.isEmpty()) {
      try {
        kept.pop().close();
      } catch (Exception e) {
        BuildLog.LOGGER.log(Level.WARNING, "cannot close what a network was made of", e);
      }
    }
  }
}
