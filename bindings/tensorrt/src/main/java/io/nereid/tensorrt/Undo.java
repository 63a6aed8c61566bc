package io.nereid.tensorrt;

import java.util.ArrayDeque;
import java.util.Deque;

/** Closes what was made, the last first, unless that is forgotten; all of it, whatever fails. */
final class Undo implements AutoCloseable {

  private final Deque<AutoCloseable> made = new ArrayDeque<>();

  <T extends AutoCloseable> T add(T resource) {
    made.push(resource);
    return resource;
  }

  /** All was made: it belongs to someone else now. */
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
