package io.nereid.server.wire;

import io.nereid.server.shared.HeapBudget;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * What a connection of HTTP/2 writes. Whoever has something to send writes it, with all else that
 * waits, unless somebody writes at that moment; then the connection's writer does. Everything but
 * {@link #runWriter} is called with the connection's lock, but nobody waits for the client while
 * holding it.
 */
final class Http2Output {

  private static final Logger LOGGER = System.getLogger(Http2Output.class.getName());

  /** Bytes of copies that wait to be written before nothing more is read of the client. */
  private static final int MOST_UNREAD_BYTES = 64 << 10;

  private final ReentrantLock lock;
  private final Http2Codec codec;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final BooleanSupplier readerComes;
  private final Condition written;
  private final FrameBuffer frames;
  private final ArrayDeque<Lent> lent = new ArrayDeque<>(); // in the order of their ends
  private volatile Thread writer; // null: it has not begun
  private volatile boolean called; // since the writer looked
  private long writtenBytes; // of those that the codec has sent
  private boolean writing; // somebody does, without the lock
  private boolean ended; // nothing more is written
  private boolean writerEnded;

  /** Memory that the frames up to {@code end} may lie in, and what is to be done behind them. */
  private record Lent(long end, Runnable release) {}

  /** {@code readerComes}: whether the thread that reads will soon write what there is. */
  Http2Output(
      ReentrantLock lock,
      Http2Codec codec,
      ClientChannel channel,
      ConnectionGuard guard,
      BooleanSupplier readerComes) {
    this.readerComes = readerComes;
    this.lock = lock;
    this.codec = codec;
    frames = codec.frames();
    this.channel = channel;
    this.guard = guard;
    written = lock.newCondition();
  }

  /** Has what the codec sends written by another thread. */
  void handOver() {
    if (isToBeWritten() && !readerComes.getAsBoolean()) {
      wakeWriter();
    }
  }

  /** Whether {@link #write} would write something. */
  boolean isToBeWritten() {
    return !writing && !frames.isEmpty();
  }

  /** Whether at most so many of the bytes that were sent are left to write. */
  boolean hasAtMost(int most) {
    return writtenBytes >= frames.count() - most || (ended && !writing);
  }

  /** Writes what was sent, unless somebody writes, who then sees to it. */
  void write() {
    if (isToBeWritten()) {
      writeBatch();
    }
  }

  /** Has at most {@code most} of the bytes that were sent left to write. */
  void awaitWritten(int most) {
    long wanted = frames.count() - most;
    while (writtenBytes < wanted && (writing || !ended)) {
      writeMore();
    }
  }

  private void writeMore() {
    if (writing) {
      written.awaitUninterruptibly();
    } else {
      writeBatch();
    }
  }

  /**
   * Waits while many bytes of copies are held here because the client does not read. False: there
   * is no heap for those, and the connection ends.
   */
  boolean awaitClient(HeapBudget heap) {
    long bytes = frames.unwrittenBytes();
    if (bytes <= MOST_UNREAD_BYTES) {
      return true;
    }
    if (!heap.takeForConnection(bytes)) {
      LOGGER.log(Level.DEBUG, "connection ended: its client does not read");
      guard.close();
      return false;
    }
    while (frames.unwrittenBytes() > MOST_UNREAD_BYTES && (writing || !ended)) {
      writeMore();
    }
    heap.giveBackOfConnection(bytes);
    return true;
  }

  /** Writes all that there is now. Others may take the lock meanwhile. */
  private void writeBatch() {
    assert lock.getHoldCount() == 1;
    ByteBuffer[] batch = frames.take();
    long upTo = frames.count();
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
      frames.written();
      writtenBytes = upTo;
      written.signalAll();
      release();
      codec.allWritten();
      if (!done) {
        end();
      } else {
        handOver();
      }
    }
  }

  // ---- Memory that is lent ---------------------------------------------------------------------

  /** Has something done as soon as all that was sent until now is written, or never will be. */
  void whenWritten(Runnable release) {
    if (hasAtMost(0)) {
      release.run();
    } else {
      lent.add(new Lent(frames.count(), release));
    }
  }

  private void release() {
    while (!lent.isEmpty() && (lent.peek().end <= writtenBytes || ended)) {
      Runnable release = lent.poll().release;
      try {
        release.run();
      } catch (RuntimeException | Error e) { // the others are run all the same
        LOGGER.log(Level.ERROR, "could not give back what was sent", e);
      }
    }
  }

  // ---- The writer ------------------------------------------------------------------------------

  /** Has the writer see what there is to do; needs no lock. */
  void wakeWriter() {
    called = true;
    LockSupport.unpark(writer);
  }

  /**
   * The writer's life, without the lock: writes what nobody else does, until there will be nothing
   * more.
   *
   * @param before what it does before it looks what there is to write; called with the lock
   * @param complete whether nothing follows what was sent; called with the lock
   */
  void runWriter(Runnable before, BooleanSupplier complete) {
    writer = Thread.currentThread();
    try {
      if (writeToTheEnd(before, complete)) {
        guard.lingering();
        channel.shutdownOutput();
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      guard.close();
    } catch (RuntimeException | Error e) {
      guard.close();
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      lock.lock();
      writerEnded = true;
      end();
      lock.unlock();
    }
  }

  /** Whether all was written, and that did not fail. */
  private boolean writeToTheEnd(Runnable before, BooleanSupplier complete) {
    lock.lock();
    try {
      while (!ended) {
        called = false;
        before.run();
        if (isToBeWritten()) {
          writeBatch();
        } else if (!complete.getAsBoolean()) {
          awaitCall();
        } else if (writing) {
          written.awaitUninterruptibly(); // whoever writes now may not say that it was the last
        } else {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void awaitCall() {
    lock.unlock();
    while (!called) {
      LockSupport.park(this);
    }
    lock.lock();
  }

  /** Waits until the writer's life is over. */
  void awaitWriter() {
    while (!writerEnded) {
      written.awaitUninterruptibly();
    }
  }

  /**
   * Reads, for a while, what the client still sends: the kernel drops what was written last when a
   * connection is closed with unread input. By the reading thread, when the writer's life is over.
   */
  void linger() throws IOException {
    ByteBuffer unread = codec.readBuffer();
    while (channel.read(unread.clear()) >= 0) {}
  }

  /** Nothing more is written. */
  private void end() {
    ended = true;
    frames.drop();
    if (!writing) {
      release();
    }
    wakeWriter();
    written.signalAll();
  }
}
