package io.nereid.server.http;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.PooledByteBufAllocator;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection of HTTP/2: its thread reads frames, one more writes them, and each stream has a
 * thread that serves its request as a connection of HTTP/1.1 would. Nobody waits for the client
 * while holding the lock.
 */
final class StreamsConnection implements StreamCodec.Listener {

  private static final Logger LOGGER = System.getLogger(StreamsConnection.class.getName());

  private static final int READ_BYTES = 64 << 10;

  /** Bytes that wait to be written before replies wait for them. */
  static final int MOST_UNWRITTEN_BYTES = 256 << 10;

  private final HttpContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;

  /** Guards everything below, and the codec. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition somethingToWrite = lock.newCondition();
  private final Condition written = lock.newCondition();
  private final Condition streamEnded = lock.newCondition();
  private final StreamCodec codec;
  private final Map<Integer, StreamChannel> streams = new HashMap<>();
  private final ArrayDeque<ByteBuf> unwritten = new ArrayDeque<>();
  private long sentBytes; // by the codec, in all
  private long writtenBytes; // of those
  private boolean goneAway;
  private boolean ending; // nothing more is read
  private boolean writerEnded;

  StreamsConnection(HttpContext context, ClientChannel channel, ConnectionGuard guard)
      throws IOException {
    this.context = context;
    this.channel = channel;
    this.guard = guard;
    codec = new StreamCodec(context.limits(), this);
  }

  ReentrantLock lock() {
    return lock;
  }

  StreamCodec codec() {
    return codec;
  }

  ClientChannel channel() {
    return channel;
  }

  // ---- By the connection's thread --------------------------------------------------------------

  /** Serves all that the client asks for, beginning with what was read. */
  void serve(ConnectionInput begun) throws IOException {
    Thread.ofVirtual().name("nrd-http-writer").start(this::write);
    try {
      guard.stopAnnouncement(this::announceStop);
      if (context.health().isStopping()) {
        announceStop();
      }
      ByteBuf first = Unpooled.copiedBuffer(begun.bytes(), begun.position(), begun.available());
      begun.skip(begun.available());
      boolean goesOn = take(first);
      while (goesOn) {
        goesOn = readMore();
      }
    } finally {
      end();
    }
  }

  private boolean readMore() throws IOException {
    ByteBuf bytes = PooledByteBufAllocator.DEFAULT.directBuffer(READ_BYTES, READ_BYTES);
    try {
      int count = channel.read(bytes.nioBuffer(0, READ_BYTES));
      if (count < 0) {
        return false;
      }
      return take(bytes.writerIndex(count).retain());
    } finally {
      bytes.release();
    }
  }

  private boolean take(ByteBuf bytes) {
    lock.lock();
    try {
      boolean goesOn = codec.take(bytes);
      collect();
      return goesOn;
    } finally {
      lock.unlock();
    }
  }

  /** Ends what is under way, and waits until nobody uses the connection any more. */
  private void end() {
    lock.lock();
    try {
      ending = true;
      guard.writing();
      streams.values().forEach(StreamChannel::closed);
      if (!goneAway) {
        codec.goAway();
      }
      codec.close();
      collect();
      somethingToWrite.signalAll();
      while (!streams.isEmpty() || !writerEnded) {
        streamEnded.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- By the codec, on the connection's thread with the lock ----------------------------------

  @Override
  public void headers(int id, Http2Headers headers, boolean last) {
    StreamChannel known = streams.get(id);
    if (known != null) {
      if (last) {
        known.inputEnded(); // fields behind the body mean nothing here
      }
      return;
    }
    StreamChannel stream = new StreamChannel(this, id);
    HttpLimits limits = context.limits();
    ConnectionInput input = new ConnectionInput(stream, 4096);
    ConnectionGuard streamGuard = new ConnectionGuard(stream, limits);
    streamGuard.input(input);
    if (!addStream(streamGuard)) {
      codec.reset(id, Http2Error.REFUSED_STREAM); // the client may try again
      return;
    }
    if (last) {
      stream.inputEnded();
    }
    streams.put(id, stream);
    guard.serving();
    HeadSource head = new StreamHead(headers, last, context.kept());
    try {
      Thread.ofVirtual()
          .name("nrd-http-stream")
          .start(() -> serve(stream, input, streamGuard, head));
    } catch (Throwable t) { // there is no memory for it: nobody else would end the stream
      removeStream(streamGuard);
      remove(stream);
      throw t;
    }
  }

  /** Whether there is room for one more, of which all connections together have so much. */
  private boolean addStream(ConnectionGuard stream) {
    if (!context.heap().takeForConnection(HeapCosts.STREAM_BYTES)) {
      return false;
    }
    if (!context.watch().addStream(stream, context.limits().connectionCount())) {
      context.heap().giveBackOfConnection(HeapCosts.STREAM_BYTES);
      return false;
    }
    return true;
  }

  private void removeStream(ConnectionGuard stream) {
    context.watch().removeStream(stream);
    context.heap().giveBackOfConnection(HeapCosts.STREAM_BYTES);
  }

  @Override
  public int data(int id, ByteBuf data, boolean last) {
    StreamChannel stream = streams.get(id);
    if (stream == null) {
      return data.readableBytes();
    }
    stream.received(data, last);
    return 0;
  }

  @Override
  public void closed(int id) {
    StreamChannel stream = streams.get(id);
    if (stream != null) {
      stream.closed();
    }
  }

  // ---- By a stream's thread --------------------------------------------------------------------

  private void serve(
      StreamChannel stream, ConnectionInput input, ConnectionGuard streamGuard, HeadSource head) {
    try {
      BodyReader body = new BodyReader(input, context.limits(), stream::writeContinue).untilEnd();
      StreamOutput output = new StreamOutput(stream, streamGuard);
      new Exchange(context, stream, streamGuard, head, body, output).serve();
      stream.awaitWritten(0);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "stream ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "stream failed", e);
    } finally {
      streamGuard.close();
      removeStream(streamGuard);
      remove(stream);
    }
  }

  private void remove(StreamChannel stream) {
    lock.lock();
    try {
      streams.remove(stream.id());
      if (streams.isEmpty() && !ending) {
        if (goneAway) {
          guard.writing();
        } else {
          guard.idle();
        }
      }
      somethingToWrite.signalAll();
      streamEnded.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until at most {@code most} of the bytes sent before are not written; with the lock. */
  void awaitWritten(int most) {
    long wanted = sentBytes - most;
    while (writtenBytes < wanted && !writerEnded) {
      written.awaitUninterruptibly();
    }
  }

  /** Gives up a client that does not read. */
  void abandon() {
    guard.close();
  }

  /** Sends what the codec was given; with the lock. */
  void flush() {
    codec.flush();
    collect();
  }

  /** The client may send more; with the lock. */
  void consumed(StreamChannel stream, int count) {
    codec.consumed(stream.id(), count);
    collect();
  }

  /** Ends a stream early; with the lock. */
  void reset(StreamChannel stream, Http2Error why) {
    codec.reset(stream.id(), why);
    collect();
  }

  // ---- Writing ---------------------------------------------------------------------------------

  private void collect() {
    boolean any = false;
    for (ByteBuf bytes; (bytes = codec.next()) != null; any = true) {
      if (writerEnded) {
        bytes.release();
      } else {
        sentBytes += bytes.readableBytes();
        unwritten.add(bytes);
      }
    }
    if (any) {
      somethingToWrite.signalAll();
    }
  }

  /** From whatever thread: no streams are to begin any more. */
  private void announceStop() {
    lock.lock();
    try {
      if (goneAway || ending) {
        return;
      }
      goneAway = true;
      if (streams.isEmpty()) {
        guard.writing();
      }
      codec.goAway();
      collect();
    } finally {
      lock.unlock();
    }
  }

  /** The writer's life. */
  private void write() {
    List<ByteBuf> batch = new ArrayList<>();
    try {
      while (awaitBatch(batch)) {
        writeAll(batch);
        release(batch);
      }
      guard.lingering();
      channel.shutdownOutput();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      guard.close();
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
      guard.close();
    } finally {
      release(batch);
      endWriter();
    }
  }

  /** Gives what is to be written next; false: there will be nothing. */
  private boolean awaitBatch(List<ByteBuf> batch) {
    lock.lock();
    try {
      while (unwritten.isEmpty()) {
        if (streams.isEmpty() && (goneAway || ending)) {
          return false;
        }
        somethingToWrite.awaitUninterruptibly();
      }
      batch.addAll(unwritten);
      unwritten.clear();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void writeAll(List<ByteBuf> batch) throws IOException {
    ByteBuffer[] all = new ByteBuffer[batch.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = batch.get(i).nioBuffer();
    }
    for (int i = 0; i < all.length; ) {
      if (all[i].hasRemaining()) {
        channel.write(all, i, all.length - i);
      } else {
        i++;
      }
    }
  }

  private void release(List<ByteBuf> batch) {
    lock.lock();
    try {
      for (ByteBuf bytes : batch) {
        writtenBytes += bytes.readableBytes();
        bytes.release();
      }
      batch.clear();
      written.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void endWriter() {
    lock.lock();
    try {
      writerEnded = true;
      unwritten.forEach(ByteBuf::release);
      unwritten.clear();
      written.signalAll();
      streamEnded.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
