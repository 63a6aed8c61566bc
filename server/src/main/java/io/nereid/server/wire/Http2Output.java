package io.nereid.server.wire;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * What a connection of HTTP/2 writes. Whoever has something to send writes it, with all else that
 * waits, unless somebody writes at that moment; then the connection's writer does. Everything is
 * called with the connection's lock, but nobody waits for the client while holding it.
 */
final class Http2Output {

  private static final Logger LOGGER = System.getLogger(Http2Output.class.getName());

  private final ReentrantLock lock;
  private final Http2Codec codec;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final Condition somethingToWrite;
  private final Condition written;
  private long sentBytes; // by the codec, in all
  private long writtenBytes; // of those
  private boolean writing; // somebody does, without the lock
  private boolean ended; // nothing more is written

  Http2Output(ReentrantLock lock, Http2Codec codec, ClientChannel channel, ConnectionGuard guard) {
    this.lock = lock;
    this.codec = codec;
    this.channel = channel;
    this.guard = guard;
    somethingToWrite = lock.newCondition();
    written = lock.newCondition();
  }

  /** Takes what the codec sends. Who calls it has it written then. */
  void collect() {
    sentBytes += codec.collect();
    if (ended) {
      codec.dropUnwritten();
    }
  }

  /** Has the writer write what the codec sends. */
  void handOver() {
    collect();
    if (!writing && codec.hasUnwritten()) {
      somethingToWrite.signalAll();
    }
  }

  /** Writes what was sent, unless somebody writes, who then sees to it. */
  void write() {
    if (!writing && codec.hasUnwritten()) {
      writeBatch();
    }
  }

  /** Has at most {@code most} of the bytes that were sent left to write. */
  void awaitWritten(int most) {
    long wanted = sentBytes - most;
    while (writtenBytes < wanted && (writing || !ended)) {
      if (writing) {
        written.awaitUninterruptibly();
      } else {
        writeBatch();
      }
    }
  }

  /** Writes all that there is now. Others may take the lock meanwhile. */
  private void writeBatch() {
    assert lock.getHoldCount() == 1;
    ByteBuffer[] batch = codec.nextBatch();
    writing = true;
    lock.unlock();
    boolean done = false;
    try {
      channel.writeAll(batch);
      done = true;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      if (!done) {
        guard.close();
      }
      lock.lock();
      writing = false;
      writtenBytes += codec.releaseBatch();
      written.signalAll();
      if (!done) {
        end();
      } else if (codec.hasUnwritten()) {
        somethingToWrite.signalAll();
      }
    }
  }

  // ---- The writer ------------------------------------------------------------------------------

  /** Has the writer see that there may be nothing more to write. */
  void wakeWriter() {
    somethingToWrite.signalAll();
  }

  /**
   * Writes what nobody else does, until there will be nothing more; false when that fails.
   *
   * @param complete whether nothing follows what was sent
   */
  boolean writeToTheEnd(BooleanSupplier complete) {
    while (!ended) {
      if (!writing && codec.hasUnwritten()) {
        writeBatch();
      } else if (!writing && complete.getAsBoolean()) {
        return true;
      } else {
        somethingToWrite.awaitUninterruptibly();
      }
    }
    return false;
  }

  /** Nothing more is written. */
  void end() {
    ended = true;
    codec.dropUnwritten();
    somethingToWrite.signalAll();
    written.signalAll();
  }
}
