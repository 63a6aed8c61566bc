package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INoCopy;

/**
 * Owns the objects of a build. TensorRT reads weights in place until the build is over, so owners
 * of memory that a network refers to must live as long.
 */
public final class BuildScope implements AutoCloseable {

  private final BuildLog log;
  private final Deque<AutoCloseable> kept = new ArrayDeque<>();

  BuildScope(BuildLog log) {
    this.log = log;
  }

  /** The logger for further objects of TensorRT. */
  public ILogger logger() {
    return log.logger();
  }

  /** Closes an owner of memory after the build, in reverse order, before the network is deleted. */
  public <T extends AutoCloseable> T keep(T owner) {
    kept.push(owner);
    return owner;
  }

  /** Deletes an object of TensorRT after the build, in reverse order. */
  <T extends INoCopy> T own(T object, String what) {
    T made = made(object, what);
    keep(() -> NativeObjects.delete(made));
    return made;
  }

  /** Returns the object that TensorRT made; throws if that is null. */
  <T extends Pointer> T made(T object, String what) {
    if (Pointer.isNull(object)) {
      throw log.failure("TensorRT could not make " + what);
    }
    return object;
  }

  /** Closes everything after the build, even if one step fails. */
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
