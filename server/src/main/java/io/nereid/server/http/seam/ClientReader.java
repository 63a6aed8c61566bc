package io.nereid.server.http.seam;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.nereid.server.shared.HeapArrays;
import io.nereid.server.shared.HeapShare;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import jdk.management.VirtualThreadSchedulerMXBean;

/**
 * Gives Helidon a client's bytes, except those of tensors: these go from the socket to their
 * memory, and Helidon gets as many filler bytes, so that its count of the body is right. The
 * connection's thread uses it; while a request runs, the watch does.
 */
public final class ClientReader implements RepeatRounds.Member {

  private static final int FIRST_BYTES = 1 << 10;
  private static final int MOST_BYTES = 16 << 10;

  /** The time that one connection keeps a processor while others wait: 64 of them take 6 ms. */
  private static final long TURN_NS = 200_000;

  /** A read that takes longer has waited for input. */
  private static final long WAIT_NS = 50_000;

  private static final VirtualThreadSchedulerMXBean SCHEDULER =
      ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);

  /** The largest piece of a segment for one read: a byte buffer's size is an int. */
  private static final long PIECE_BYTES = 1L << 30;

  /** Filler that Helidon gets for bytes that bypassed it. Never written to. */
  private static final byte[] PASSED = new byte[64 << 10];

  private static final byte[] FEW_PASSED = new byte[4 << 10];

  private final ReaderOwner connection;
  private final RepeatRounds rounds;
  private final ClientChannel channel;
  private final DataReader reader;
  private byte[] buffer = new byte[FIRST_BYTES];
  private byte[] early; // came before those in the channel; null: none
  private boolean ended; // the watch has seen the end of input
  private long supplied;
  private long passed; // filler bytes that Helidon has still to get
  private final KeptHead head = new KeptHead();
  private SelectionKey key; // in the round in which it waits; null: in none
  private int repeats; // repeats served since it entered the round
  private volatile RepeatRounds.Round round; // null: the connection's own thread reads
  private volatile Thread sleeper; // the connection's sleeping thread; null: awake

  /** A round's thread is serving, and then wakes the sleeper. */
  @GuardedBy("this")
  private boolean serving;

  private long breathedNs; // when other threads last had the processor
  // taken from the heap's budget, for the part of the request that Helidon holds
  private long counted;

  ClientReader(ReaderOwner connection, ClientChannel channel, RepeatRounds rounds) {
    this.connection = connection;
    this.rounds = rounds;
    this.channel = channel;
    reader = new ChunkReader(this::supply, connection.limits().headBytes());
  }

  /** The reader that Helidon reads from. */
  DataReader helidon() {
    return reader;
  }

  /** Bytes that Helidon got and has not consumed. */
  public int available() {
    return reader.available();
  }

  /** Bytes that Helidon got so far, filler included. */
  public long supplied() {
    return supplied;
  }

  // ---- By Helidon ------------------------------------------------------------------------------

  private byte[] supply() {
    if (passed > 0) {
      byte[] bytes =
          passed >= PASSED.length
              ? PASSED
              : passed >= FEW_PASSED.length ? FEW_PASSED : new byte[(int) passed];
      passed -= bytes.length;
      supplied += bytes.length;
      return bytes;
    }
    checkHeld(reader.available() + buffer.length);
    connection.awaiting();
    boolean first = connection.isBetween();
    if (first && early == null && !ended && head.isExpected() && !channel.isEncrypted()) {
      sleep();
    }
    long askedNs = System.nanoTime();
    int count = read(ByteBuffer.wrap(buffer));
    long cameNs = System.nanoTime();
    breathedNs = cameNs - askedNs > WAIT_NS ? cameNs : breathedNs; // it gave its carrier away
    connection.received();
    if (first) {
      count = readOn(count);
    }
    byte[] bytes = Arrays.copyOf(buffer, count);
    if (first) {
      head.came(bytes);
      FirstBytes understood = FirstBytes.of(bytes);
      bytes = understood.bytes();
      if (understood.isOld()) {
        connection.old();
      }
    }
    if (count == buffer.length && count < MOST_BYTES) {
      buffer = new byte[4 * count];
    }
    supplied += bytes.length;
    return bytes;
  }

  /** Removes empty lines in front, and reads until the rest can be understood. */
  private int readOn(int some) {
    int count = some;
    for (; ; ) {
      int empty = FirstBytes.emptyLines(buffer, count);
      count -= empty;
      System.arraycopy(buffer, empty, buffer, 0, count);
      if (count >= connection.limits().headBytes() || FirstBytes.suffice(buffer, count)) {
        return count;
      }
      if (count == buffer.length) {
        buffer = Arrays.copyOf(buffer, 2 * count);
      }
      count += read(ByteBuffer.wrap(buffer, count, buffer.length - count));
    }
  }

  /**
   * Limits and counts the part of a chunk, or of the line before it, that Helidon holds until it is
   * whole.
   */
  private void checkHeld(long held) {
    if (held <= MOST_BYTES * 2) {
      return;
    }
    if (held > connection.limits().heldBytes() + MOST_BYTES * 2) {
      throw RequestException.builder()
          .type(EventType.BAD_REQUEST)
          .status(Status.REQUEST_ENTITY_TOO_LARGE_413)
          .setKeepAlive(false)
          .message("a chunk of the request body exceeds the maximum allowed value")
          .build();
    }
    long cost = HeapArrays.cost((int) Math.min(held, Integer.MAX_VALUE / 2));
    if (cost > counted) {
      heap().take(cost - counted);
      counted = cost;
    }
  }

  private HeapShare heap() {
    return connection.heap();
  }

  /** Reads at least one byte; throws at the end of input. */
  private int read(ByteBuffer to) {
    int count = takeEarly(to);
    if (count == 0 && !ended) {
      try {
        count = channel.read(to);
      } catch (IOException e) {
        throw connection.isBetween() ? new CloseConnectionException("reading failed", e) : gone();
      }
    }
    if (count <= 0) {
      throw gone();
    }
    return count;
  }

  private int takeEarly(ByteBuffer to) {
    if (early == null) {
      return 0;
    }
    int count = Math.min(early.length, to.remaining());
    to.put(early, 0, count);
    early = count == early.length ? null : Arrays.copyOfRange(early, count, early.length);
    return count;
  }

  /** The exception for the end of input: the client left, or took too long. */
  private RuntimeException gone() {
    if (!connection.timedOut()) {
      return new ClientGoneException();
    }
    return RequestException.builder()
        .type(EventType.BAD_REQUEST)
        .status(Status.REQUEST_TIMEOUT_408)
        .setKeepAlive(false)
        .message(
            "expected the whole request within "
                + connection.limits().requestTime().toSeconds()
                + " s; --http-request-timeout-secs sets the limit")
        .build();
  }

  // ---- By the handler --------------------------------------------------------------------------

  /**
   * Reads some of the next bytes of a body, at least one, straight to memory. Helidon must hold
   * none of the body; it gets as many filler bytes when it reads on.
   */
  public long readPast(MemorySegment to, long offset, long count) {
    int read = read(to.asSlice(offset, Math.min(count, PIECE_BYTES)).asByteBuffer());
    passed += read;
    return read;
  }

  /**
   * Lets other threads run, if this one has run for a while: a virtual thread that always finds
   * input never stops by itself. It parks, since after a yield the carrier takes its own queue's
   * threads first and never those that input has woken: two busy connections once delayed a third
   * by 50 s. The thread of a round has no carrier.
   */
  public void breathe() {
    long nowNs = System.nanoTime();
    if (nowNs - breathedNs > TURN_NS && !isInRound()) {
      breathedNs = nowNs;
      if (SCHEDULER.getQueuedVirtualThreadCount() > 0) {
        LockSupport.parkNanos(1); // with no other connection this would wake a carrier for nothing
        breathedNs = System.nanoTime();
      }
    }
  }

  /** Lets repeats of the present request, with a body of as many bytes, bypass Helidon. */
  public void keepHead(long bodyBytes) {
    head.keep((int) Math.min(bodyBytes, KeptHead.MOST_BYTES));
  }

  /**
   * Called before the present request waits or takes long, so that other connections of the round
   * go on.
   */
  public void stepAside() {
    RepeatRounds.Round mine = round;
    if (mine != null) {
      mine.stepAside(this);
    }
  }

  /** True if other connections wait for the thread that serves this one. */
  boolean isInRound() {
    return round != null;
  }

  /**
   * Ends the request, whose bytes are not held any more. Those of the next one that Helidon has
   * already come again, as first bytes.
   */
  void requestEnded() {
    counted = 0; // the share gives them back
    int count = reader.available();
    if (count == 0) {
      return;
    }
    byte[] next = reader.readBytes(count);
    int empty = FirstBytes.emptyLines(next, count);
    supplied -= count;
    byte[] behind = early == null ? new byte[0] : early;
    early = Arrays.copyOfRange(next, empty, count + behind.length);
    System.arraycopy(behind, 0, early, count - empty, behind.length);
    early = early.length == 0 ? null : early;
  }

  /** Skips the client's input until its end. */
  void discard() throws IOException {
    int count;
    do {
      count = channel.read(ByteBuffer.wrap(buffer));
    } while (count > 0);
  }

  // ---- Repeats ---------------------------------------------------------------------------------

  /** Makes the connection's own thread sleep while a round serves repeats. */
  private void sleep() {
    repeats = 0;
    sleeper = Thread.currentThread();
    if (rounds.take(this)) {
      while (sleeper != null) {
        LockSupport.park(this);
        Thread.interrupted(); // set by a stop, which closes the connection
      }
    }
    sleeper = null;
    head.left(repeats);
  }

  @Override
  public void enter(RepeatRounds.Round itsRound, Selector selector) {
    try {
      round = itsRound;
      channel.configureBlocking(false);
      key = channel.socket().register(selector, SelectionKey.OP_READ, this);
    } catch (IOException | CancelledKeyException e) {
      leave();
      wake();
    }
  }

  @Override
  public synchronized boolean beginServing() {
    serving = sleeper != null;
    return serving;
  }

  @Override
  public synchronized boolean endServing() {
    serving = false;
    return channel.isOpen();
  }

  @Override
  public boolean serveRepeat(byte[] bytes) {
    try {
      int count = channel.read(ByteBuffer.wrap(bytes));
      if (count == 0) {
        return true;
      }
      if (count > 0 && head.repeats(bytes, count)) {
        repeats++;
        return connection.repeat(bytes, head.length(), count - head.length()) && head.isKept();
      }
      ended = count < 0;
      early = count < 0 ? null : Arrays.copyOf(bytes, count);
    } catch (IOException e) {
      ended = true;
    }
    return false;
  }

  @Override
  public void leave() {
    if (key != null) {
      key.cancel();
    }
    try {
      channel.configureBlocking(true);
    } catch (IOException e) {
      ended = true;
    }
    round = null;
  }

  @Override
  public synchronized void wake() {
    Thread thread = sleeper;
    if (thread != null && !serving) {
      sleeper = null;
      LockSupport.unpark(thread);
    }
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /**
   * True if the client is still connected. The channel is non-blocking; bytes that came are kept.
   */
  boolean probe() throws IOException {
    if (early != null) {
      return true;
    }
    ByteBuffer some = ByteBuffer.allocate(FIRST_BYTES);
    int count = channel.read(some);
    ended = count < 0;
    if (count > 0) {
      early = Arrays.copyOf(some.array(), count);
    }
    return !ended;
  }
}
