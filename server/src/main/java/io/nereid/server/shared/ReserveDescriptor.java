package io.nereid.server.shared;

import java.io.FileInputStream;
import java.io.IOException;

/**
 * A file descriptor in reserve for when no other is left: the listening thread releases it, accepts
 * a waiting client's connection with it and closes that, so that the client is refused at once.
 * Used by one thread.
 */
public final class ReserveDescriptor implements AutoCloseable {

  private FileInputStream file; // null: released, or no descriptor was left

  /** Opens the descriptor, if one is left. */
  public ReserveDescriptor() {
    hold();
  }

  /** Opens the descriptor again, unless it is open or none is left. */
  public void hold() {
    if (file == null) {
      try {
        file = new FileInputStream("/dev/null");
      } catch (IOException e) {
        // No descriptor is left: the next call tries again.
      }
    }
  }

  /** Releases the descriptor, for a connection. */
  public void release() {
    FileInputStream held = file;
    file = null;
    if (held != null) {
      try {
        held.close();
      } catch (IOException e) {
        // The descriptor is free nevertheless.
      }
    }
  }

  @Override
  public void close() {
    release();
  }
}
