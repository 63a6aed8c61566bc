package io.nereid.server.http.seam;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/**
 * Makes a virtual thread wait for input once, at the start. At the first such wait the JDK opens
 * the descriptor for waking virtual threads: if none were left then, no virtual thread could ever
 * wait for input.
 */
final class PollerStart {

  @GuardedBy("PollerStart.class")
  private static boolean started;

  private PollerStart() {}

  /** Returns after a virtual thread has waited; later calls return at once. */
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
      // There is no descriptor left, so opening the port will fail with a message.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void read(Pipe.SourceChannel source) {
    try {
      source.read(ByteBuffer.allocate(1));
    } catch (IOException e) {
      // The waiting thread sees the end of this one.
    }
  }
}
