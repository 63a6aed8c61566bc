package io.nereid.tensorrt;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Closes objects in reverse order, unless they are forgotten; a failure does not keep the others
 * open.
 */
final class Undo implements AutoCloseable {

  private final Deque<AutoCloseable> made = new ArrayDeque<>();

  <T extends AutoCloseable> T add(T resource) {
    made.push(resource);
    return resource;
  }

  /** Forgets the objects, which other code owns now. */
  void forget() {
    made.clear();
  }

  @Override
  public void close() {
    while (!made.isEmpty()) {
      try {
        made.pop().close();
      } catch (Exception e) {
        TensorRtLog.LOGGER.log(
            System.Logger.Level.WARNING, "cannot close what belonged to an instance", e);
      }
    }
  }
}
