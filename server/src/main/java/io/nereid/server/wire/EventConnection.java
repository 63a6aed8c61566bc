package io.nereid.server.wire;

import io.nereid.server.shared.FrameCount;
import io.nereid.server.shared.HeapBudget;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A connection of HTTP/2 whose streams have no threads, but are served by what happens to them. Its
 * loop is whoever has its lock: the thread that reads, which serves what comes, and writes what it
 * replied before it reads again; its writer, which runs what other threads want done meanwhile; and
 * threads of long messages. Nobody waits for the client while holding the lock.
 */
public final class EventConnection implements PortConnection, Http2Codec.Listener, Executor {

  private static final Logger LOGGER = System.getLogger(EventConnection.class.getName());

  /** Bytes that wait to be written before streams are told that there is no room. */
  private static final int MOST_UNWRITTEN_BYTES = 256 << 10;

  /** What others want done before what there is to write is written. */
  private static final int MOST_TOGETHER = 64;

  private final EventContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final PortPlace place;

  /** Guards everything below, and the codec. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Http2Codec codec;
  private final Http2Output output;
  private final ConnectionEvents events;
  private final FullStreams full = new FullStreams(this::hasRoom);
  private int streamCount;
  private final StreamHeap streamHeap = new StreamHeap();
  private boolean isSpoken; // by the client, as it should be
  private boolean behind; // a thread has not come to take what was read for it
  private boolean goneAway;
  private final ReadingPace pace;
  private boolean goesOn = true; // the client may send more
  private boolean ending; // nothing more is read

  // Of any thread.
  private final LoopTasks tasks = new LoopTasks();
  private volatile boolean readerAtWork;
  private volatile boolean over; // nobody is left to run tasks

  /** Counts among the connections of its port from now on, until it ran or was ended. */
  EventConnection(
      EventContext context,
      ClientChannel channel,
      Function<EventConnection, ConnectionEvents> servers) {
    this.context = context;
    this.channel = channel;
    codec =
        new Http2Codec(
            context.limits().headBytes(),
            context.streamCount(),
            Http2Streams.CONNECTION_WINDOW_BYTES,
            this);
    guard = new ConnectionGuard(channel, context.limits());
    output = new Http2Output(lock, codec, channel, guard, () -> readerAtWork);
    events = servers.apply(this);
    place = new PortPlace(context, guard);
    pace = new ReadingPace(context.watch().readers());
  }

  // ---- Its life --------------------------------------------------------------------------------

  @Override
  public String threadName() {
    return context.threadName();
  }

  @Override
  public boolean admit() {
    return place.admit();
  }

  @Override
  public void run() {
    try {
      guard.opening();
      if (channel.awaitFirst()) {
        channel.open();
        serve(place.serve());
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      end();
    }
  }

  @Override
  public void end() {
    try {
      guard.close();
    } finally {
      place.leave();
    }
  }

  private void serve(boolean isServed) throws IOException {
    Thread.ofVirtual()
        .name(context.threadName() + "-writer")
        .start(() -> output.runWriter(this::runTasks, this::isComplete));
    guard.stopAnnouncement(() -> execute(() -> goAway("")));
    guard.abortion(() -> execute(this::abort));
    guard.eachTick(this::tick);
    lock.lock();
    try {
      if (!isServed) {
        goneAway = true; // what it still sends is read
        codec.goAway(Http2Error.REFUSED_STREAM, place.refusal());
      } else if (context.stopping().getAsBoolean()) {
        goAway("");
      }
      readAll();
    } finally {
      try {
        endReading();
        output.awaitWriter();
        over = true;
        runTasks();
      } finally {
        lock.unlock();
      }
    }
    output.linger();
  }

  // ---- The reading thread, with the lock -------------------------------------------------------

  private void readAll() {
    while (goesOn && !ending) {
      readNext();
      if (pace.wantsThread() && goesOn && !ending) {
        lock.unlock();
        try {
          context.watch().readers().run(pace, this::readWhileBusy);
        } finally {
          lock.lock();
        }
      }
    }
  }

  private void readWhileBusy() {
    lock.lock();
    try {
      while (pace.wantsThread() && goesOn && !ending) {
        readNext();
      }
    } finally {
      lock.unlock();
    }
  }

  private void readNext() {
    readerAtWork = true;
    runTasks();
    output.write();
    goesOn = readMore(); // whatever is to be done by now: others may have it done for ever
  }

  /** Has the codec take more of what the client sends; false: that was all. */
  private boolean readMore() {
    readerAtWork = false; // before the last look for tasks
    if (!tasks.isEmpty() || output.isToBeWritten() || full.canTell()) {
      output.wakeWriter();
    }
    if (!output.awaitClient(heap())) {
      return false;
    }
    int count = 0;
    lock.unlock();
    try {
      if (behind) {
        behind = false;
        Thread.yield(); // what comes while it reads goes where it reads to, and not by a copy
      }
      count = channel.read(codec.readBuffer());
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      return false;
    } finally {
      lock.lock();
      readerAtWork = true;
    }
    pace.read(count);
    if (count > 0) {
      events.heard();
    }
    boolean more = codec.received(count);
    if (!isSpoken && codec.hasSettings() && place.isServed()) {
      isSpoken = true;
      guard.serving(); // its client may take its time from now on
    }
    return more;
  }

  private void endReading() {
    readerAtWork = false;
    ending = true;
    guard.writing();
    try {
      codec.goAway(Http2Error.NO_ERROR, "");
      codec.close();
    } finally {
      output.wakeWriter();
    }
  }

  // ---- By the codec ----------------------------------------------------------------------------

  @Override
  public boolean begun(Http2Stream known, List<String> fields, boolean last) {
    int bytes = streamHeap.bytes(fields);
    if (!heap().takeForConnection(bytes)) {
      return false;
    }
    LoopStream stream = new LoopStream(this, known, bytes);
    known.listener = stream;
    streamCount++;
    guard.servesSome(true);
    stream.begin(events, fields, last);
    return true;
  }

  @Override
  public String pinged(FrameCount floods) {
    return events.pinged();
  }

  // ---- By streams ------------------------------------------------------------------------------

  Http2Codec codec() {
    return codec;
  }

  Http2Output output() {
    return output;
  }

  /** What everything counts in that the client makes this process hold. */
  HeapBudget heap() {
    return context.heap();
  }

  boolean hasRoom() {
    return output.hasAtMost(MOST_UNWRITTEN_BYTES);
  }

  void isFull(LoopStream stream) {
    full.add(stream);
  }

  /** A stream is over, and does not count with so many bytes any more. */
  void ended(LoopStream stream, int heapBytes) {
    heap().giveBackOfConnection(heapBytes);
    streamCount--;
    full.remove(stream);
    if (streamCount == 0) {
      output.whenWritten(() -> guard.servesSome(streamCount > 0));
      if (goneAway) {
        output.wakeWriter();
      }
    }
  }

  // ---- The loop --------------------------------------------------------------------------------

  /** Whether the calling thread is its loop. */
  public boolean isOnLoop() {
    return lock.isHeldByCurrentThread();
  }

  /** Has something done on the loop, behind what was given to it before; does not wait. */
  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (over) {
      onLoop(this::runTasks);
    } else if (!readerAtWork) {
      output.wakeWriter();
    }
  }

  /** Makes the calling thread, which may wait, the loop while it does something. */
  public void onLoop(Runnable work) {
    lock.lock();
    try {
      work.run();
    } finally {
      if (!readerAtWork) {
        output.write();
        if (!tasks.isEmpty() || full.canTell()) {
          output.wakeWriter();
        }
      }
      lock.unlock();
    }
  }

  /** What makes the thread that has it the loop. */
  public Lock lock() {
    return lock;
  }

  /** Has another thread write what this one has sent as the loop, which it is still. */
  public void handOver() {
    output.handOver();
  }

  /** Bytes of all frames that were ever sent. */
  public long sentBytes() {
    return codec.frames().count();
  }

  /** What was read is not taken as fast: the thread that is to take it goes first. */
  public void letReadersCatchUp() {
    behind = true;
  }

  private void runTasks() {
    tasks.run(over ? Integer.MAX_VALUE : MOST_TOGETHER);
    full.tell();
    if (!tasks.isEmpty() && !over) {
      output.wakeWriter();
    }
  }

  /** Has the loop look after what takes its time, at that time or before. */
  public void lookAt(long timeNs) {
    tasks.lookAt(timeNs);
  }

  /** The watch calls it now and then. */
  private void tick() {
    if (tasks.isTimeToLook()) {
      execute(() -> tasks.look(events::look));
    }
    if (tasks.isStuck()) { // whoever would run them waits for the client
      Thread.ofVirtual().name(context.threadName() + "-tasks").start(() -> onLoop(this::runTasks));
    }
  }

  // ---- The end ---------------------------------------------------------------------------------

  /** Whether nothing follows what was sent. */
  private boolean isComplete() {
    return streamCount == 0 && (goneAway || ending);
  }

  /** Tells the client to begin no more streams; the connection ends with the last of them. */
  public void goAway(String why) {
    if (!goneAway && !ending) {
      goneAway = true;
      codec.goAway(Http2Error.NO_ERROR, why);
    }
  }

  /** Gives up all streams, and the connection when they are told. */
  public void abort() {
    goAway("");
    codec.open().forEach(stream -> codec.reset(stream, Http2Error.CANCEL));
  }

  /** Asks the client whether it is there. */
  public void ping() {
    codec.sending().ping();
  }

  /** Ends the connection, whose client is gone. */
  public void close() {
    guard.close();
  }

  /** Whether a stream has not ended. */
  public boolean hasStreams() {
    return streamCount > 0;
  }

  /** The socket, for the addresses of its ends. */
  public Socket socket() {
    return channel.socket().socket();
  }
}
