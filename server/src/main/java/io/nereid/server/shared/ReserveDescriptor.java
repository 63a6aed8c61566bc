package io.nereid.server.shared;

import java.io.FileInputStream;
import java.io.IOException;

/**
 * A file descriptor that is kept for when there is no other one: whoever listens lets go of it,
 * takes a waiting client's connection instead and closes that, so that the client hears at once
 * that it came in vain. Used by one thread.
 */
public final class ReserveDescriptor implements AutoCloseable {

  private FileInputStream file; // null: it is let go of, or there was none to be had

  /** Has it, if there is one to be had. */
  public ReserveDescriptor() {
    hold();
  }

  /** Takes it, unless it is held, or there is none now. */
  public void hold() {
    if (file == null) {
      try {
        file = new FileInputStream("/dev/null");
      } catch (IOException e) {
        // Somebody was faster: next time.
      }
    }
  }

  /** Lets go of it, for a connection. */
  public void release() {
    FileInputStream held = file;
    file = null;
    if (held != null) {
      try {
        held.close();
      } catch (IOException e) {
        // It is free all the same.
      }
    }
  }

  @Override
  public void close() {
    release();
  }
}
