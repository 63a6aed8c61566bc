package io.nereid.server.grpc;

import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import io.grpc.netty.shaded.io.netty.util.collection.IntObjectHashMap;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends calls of one connection whose messages stay unfinished, since gRPC holds a partial message
 * until the rest comes, and the only message of a call until the client has closed its side. All
 * connections share a budget of bytes for these, and each message must progress in time. Messages
 * that come in one frame, as most do, are not tracked. Calls whose replies are not taken end, too.
 * The connection's event loop is the only thread that calls it.
 */
final class ArrivingMessages extends Http2FrameListenerDecorator {

  /** The bytes of a message that must arrive within each period, unless fewer are left. */
  static final long PROGRESS_BYTES = 1 << 20;

  private final Http2ConnectionHandler connection;
  private final MessageBudget budget;
  private final Duration time;
  private final OpenCalls open;
  private final MethodTable methods;
  private final UntakenReplies replies;
  private final Http2Connection.PropertyKey path; // of a stream; then whether it takes one message
  private final IntObjectHashMap<UnfinishedMessage> unfinished = new IntObjectHashMap<>(2);
  private boolean watching;

  /** Passes frames on to gRPC's own listener of a connection. */
  ArrivingMessages(
      Http2ConnectionHandler connection,
      MessageBudget budget,
      SharedLimit calls,
      SharedLimit replyBytes,
      MethodTable methods,
      Duration time) {
    super(connection.decoder().frameListener());
    this.connection = connection;
    this.budget = budget;
    open = new OpenCalls(calls.share());
    this.methods = methods;
    this.time = time;
    path = connection.connection().newKey();
    replies =
        new UntakenReplies(
            connection.connection(), connection.encoder().flowController(), replyBytes, time);
    connection
        .connection()
        .addListener(
            new Http2ConnectionAdapter() {
              @Override
              public void onStreamClosed(Http2Stream stream) {
                replies.ended(stream.id());
                forget(stream.id());
                open.end(stream.id());
              }
            });
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context, int id, Http2Headers headers, int padding, boolean last)
      throws Http2Exception {
    super.onHeadersRead(context, id, headers, padding, last);
    begun(context, id, headers, last);
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context,
      int id,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean last)
      throws Http2Exception {
    super.onHeadersRead(context, id, headers, dependency, weight, exclusive, padding, last);
    begun(context, id, headers, last);
  }

  /** Notes that a call has begun, whose first message is to follow. */
  private void begun(ChannelHandlerContext context, int id, Http2Headers headers, boolean last)
      throws Http2Exception {
    Http2Stream stream = connection.connection().stream(id);
    if (last || stream == null) {
      return;
    }
    if (!open.begin(id)) {
      throw refused(
          context, stream, Status.RESOURCE_EXHAUSTED.withDescription("too many calls are open"));
    }
    stream.setProperty(path, headers.path());
    watch(context);
  }

  /** True if the client of a call may send one message only. */
  private boolean sendsOne(int id) {
    Http2Stream stream = connection.connection().stream(id);
    Object known = stream == null ? null : stream.getProperty(path);
    if (known instanceof CharSequence named) { // looked up once, and seldom for a unary call
      known = methods.takesOne(named);
      stream.setProperty(path, known);
    }
    return known == Boolean.TRUE;
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext context, int id, int increment)
      throws Http2Exception {
    replies.roomMade(id);
    super.onWindowUpdateRead(context, id, increment);
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext context, int id, ByteBuf data, int padding, boolean last)
      throws Http2Exception {
    open.data(id);
    UnfinishedMessage message = unfinished.get(id);
    if (last) {
      forget(id); // the message is whole, or gRPC ends the call
    } else if (message != null || !UnfinishedMessage.areWhole(data) || sendsOne(id)) {
      arrived(context, id, message, data);
    }
    return super.onDataRead(context, id, data, padding, last);
  }

  private void arrived(ChannelHandlerContext context, int id, UnfinishedMessage known, ByteBuf data)
      throws Http2Exception {
    Http2Stream stream = connection.connection().stream(id);
    if (stream == null || !stream.state().localSideOpen()) {
      forget(id); // the call was answered: gRPC holds no more of it
      return;
    }
    UnfinishedMessage message = known;
    if (message == null) {
      message = new UnfinishedMessage(sendsOne(id));
      unfinished.put(id, message);
    }
    long before = message.heldBytes();
    message.take(data);
    if (!budget.fits(message.length()) || !budget.take(message.heldBytes() - before)) {
      message.keep(before);
      throw refused(
          context,
          stream,
          Status.RESOURCE_EXHAUSTED.withDescription(budget.refusal(message.length())));
    }
    if (message.isWhole()) {
      forget(id);
    } else {
      watch(context);
    }
  }

  private void forget(int id) {
    UnfinishedMessage message = unfinished.remove(id);
    if (message != null) {
      budget.giveBack(message.heldBytes());
    }
  }

  // ---- Time ------------------------------------------------------------------------------------

  private void watch(ChannelHandlerContext context) {
    if (!watching) {
      watching = true;
      context
          .executor()
          .schedule(() -> lookForStuck(context), time.toMillis() / 4 + 1, TimeUnit.MILLISECONDS);
    }
  }

  private void lookForStuck(ChannelHandlerContext context) {
    watching = false;
    for (int id : List.copyOf(unfinished.keySet())) {
      Http2Stream stream = connection.connection().stream(id);
      if (stream != null && isStuck(stream, unfinished.get(id))) {
        String description =
            ("expected the rest of a message, or %s bytes more of it, and the end of a call's only "
                    + "message, within %s ms, got less; --grpc-request-timeout-secs sets the time")
                .formatted(PROGRESS_BYTES, time.toMillis());
        Status status = Status.DEADLINE_EXCEEDED.withDescription(description);
        connection.onError(context, false, refused(context, stream, status));
      }
    }
    for (int id : open.late(time.toNanos())) {
      Http2Stream stream = connection.connection().stream(id);
      if (stream != null) {
        Status status =
            Status.DEADLINE_EXCEEDED.withDescription(
                "expected the first message of a call within "
                    + time.toMillis()
                    + " ms, got none; --grpc-request-timeout-secs sets the time");
        connection.onError(context, false, refused(context, stream, status));
      }
    }
    for (Http2Stream stream : replies.late()) {
      Status status =
          Status.DEADLINE_EXCEEDED.withDescription(
              "expected the client to take some of its reply within "
                  + time.toMillis()
                  + " ms, it took none; --grpc-request-timeout-secs sets the time");
      connection.onError(context, false, ended(stream, status));
    }
    if (replies.crowdOut()) {
      context.close();
    }
    context.flush();
    if (!unfinished.isEmpty() || !open.isEmpty()) {
      watch(context);
    }
  }

  private boolean isStuck(Http2Stream stream, UnfinishedMessage message) {
    // Bytes that gRPC has not taken mean that the client of a stream waits for the server.
    boolean waitsForServer =
        !message.isOnly && connection.decoder().flowController().unconsumedBytes(stream) > 0;
    return !message.gotOn(waitsForServer ? 0 : PROGRESS_BYTES, time.toNanos());
  }

  // ---- The end of a call -----------------------------------------------------------------------

  /**
   * Tells the client the status while it still sends, and returns the exception that ends the
   * stream. gRPC takes it for the call's status and frees the partial message.
   */
  private Http2Exception refused(ChannelHandlerContext context, Http2Stream stream, Status status) {
    Http2Headers trailers = new DefaultHttp2Headers(false);
    if (!stream.isHeadersSent()) {
      trailers.status("200").set("content-type", "application/grpc");
    }
    trailers
        .set("grpc-status", Integer.toString(status.getCode().value()))
        .set("grpc-message", status.getDescription());
    if (stream.state().localSideOpen()) {
      connection
          .encoder()
          .writeHeaders(context, stream.id(), trailers, 0, true, context.newPromise());
    }
    return ended(stream, status);
  }

  /** The exception that ends a stream. */
  private static Http2Exception ended(Http2Stream stream, Status status) {
    return Http2Exception.streamError(
        stream.id(), Http2Error.CANCEL, status.asRuntimeException(), "%s", status.getDescription());
  }

  /**
   * The place of a stream within its messages, each of which begins with five bytes: a flag for
   * compression and the length. For one thread.
   */
  private static final class UnfinishedMessage {

    private static final int PREFIX_BYTES = 5;

    /** The memory of each frame beside its bytes: gRPC keeps frames separate. */
    private static final int FRAME_BYTES = 256;

    /** Whether it is its call's only one, which counts until the client closes its side. */
    private final boolean isOnly;

    private int prefixCount; // bytes of the prefix that have come
    private long length; // as far as the prefix has come
    private long bodyCount; // bytes behind the prefix that have come
    private long heldBytes;
    private long progressBytes; // bytes since the time below
    private long progressNs = System.nanoTime();

    UnfinishedMessage(boolean isOnly) {
      this.isOnly = isOnly;
    }

    /** True if a stream that is between messages is between messages again behind these bytes. */
    static boolean areWhole(ByteBuf data) {
      int position = data.readerIndex();
      int left = data.readableBytes();
      while (left >= PREFIX_BYTES) {
        int length = data.getInt(position + 1);
        if (length < 0 || length > left - PREFIX_BYTES) {
          return false;
        }
        position += PREFIX_BYTES + length;
        left -= PREFIX_BYTES + length;
      }
      return left == 0;
    }

    /** Takes the next bytes of the stream. */
    void take(ByteBuf data) {
      int position = data.readerIndex();
      int end = data.writerIndex();
      int begin = position; // where the message begins that is unfinished in the end
      while (position < end) {
        if (prefixCount < PREFIX_BYTES) {
          int next = data.getUnsignedByte(position++);
          length = prefixCount++ == 0 ? 0 : length << 8 | next;
        } else {
          long count = Math.min(length - bodyCount, end - position);
          bodyCount += count;
          position += (int) count;
        }
        if (prefixCount == PREFIX_BYTES && bodyCount == length) {
          prefixCount = 0;
          length = 0;
          bodyCount = 0;
          if (!isOnly) {
            heldBytes = 0;
            begin = position;
          }
          progressBytes = 0;
          progressNs = System.nanoTime();
        }
      }
      if (begin < end) {
        heldBytes += end - begin + FRAME_BYTES;
        progressBytes += end - begin;
      }
    }

    /** True if gRPC holds nothing any more. */
    boolean isWhole() {
      return prefixCount == 0 && !isOnly;
    }

    /** The length in the message's prefix; 0 if the prefix has not come. */
    long length() {
      return prefixCount == PREFIX_BYTES ? length : 0;
    }

    /** The bytes of the message that gRPC holds. */
    long heldBytes() {
      return heldBytes;
    }

    /** Sets the held bytes, after the last frame was refused. */
    void keep(long bytes) {
      heldBytes = bytes;
    }

    /** False if less than {@code bytes} came within a period; else begins the next period. */
    boolean gotOn(long bytes, long withinNs) {
      long nowNs = System.nanoTime();
      if (nowNs - progressNs < withinNs) {
        return true;
      }
      if (progressBytes < bytes) {
        return false;
      }
      progressBytes = 0;
      progressNs = nowNs;
      return true;
    }
  }
}
