package io.nereid.server.wire;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The streams of a connection that wait until there is room for more of their replies; those that
 * have waited longest are told first. Everything is called on the connection's loop.
 */
final class FullStreams {

  /** One of them. */
  interface Waiting {
    /** Tells that there is room; false: it has to wait on. */
    boolean tellRoom();
  }

  private final Set<Waiting> waiting = new LinkedHashSet<>();
  private final BooleanSupplier hasRoom;

  /** {@code hasRoom}: whether the connection has any. */
  FullStreams(BooleanSupplier hasRoom) {
    this.hasRoom = hasRoom;
  }

  void add(Waiting stream) {
    waiting.add(stream);
  }

  void remove(Waiting stream) {
    waiting.remove(stream);
  }

  /** Whether one could be told. */
  boolean canTell() {
    return !waiting.isEmpty() && hasRoom.getAsBoolean();
  }

  /** Tells them, until there is no room any more. */
  void tell() {
    if (!canTell()) {
      return;
    }
    for (Waiting stream : List.copyOf(waiting)) {
      if (!hasRoom.getAsBoolean()) {
        return;
      }
      waiting.remove(stream);
      if (!stream.tellRoom()) {
        waiting.add(stream); // behind those that have not had their turn
      }
    }
  }
}
