package io.nereid.server.http.seam;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/**
 * Has a virtual thread wait for input once. The JDK opens the descriptor by which such threads are
 * woken when the first of them waits: if there were no descriptors left just then, none could ever
 * wait again.
 */
final class PollerStart {

  @GuardedBy("PollerStart.class")
  private static boolean started;

  private PollerStart() {}

  /** Returns when a virtual thread has waited; later calls return at once. */
  static synchronized void await() {
    if (started) {
      return;
    }
    try {
      Pipe pipe = Pipe.open();
      try (Pipe.SourceChannel source = pipe.source();
          Pipe.SinkChannel sink = pipe.sink()) {
        Thread reader = Thread.ofVirtual().name("nrd-http-first").start(() -> read(source));
        while (reader.getState() != Thread.State.WAITING && reader.isAlive()) {
          Thread.onSpinWait();
        }
        sink.write(ByteBuffer.allocate(1));
        reader.join();
        started = true;
      }
    } catch (IOException e) {
      // There is no descriptor for this, and so none for clients: the port will say so.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void read(Pipe.SourceChannel source) {
    try {
      source.read(ByteBuffer.allocate(1));
    } catch (IOException e) {
      // The thread that waits sees that this one has ended.
    }
  }
}
