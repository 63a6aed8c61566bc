package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.nereid.server.wire.LoopStream;
import io.nereid.server.wire.StreamEvents;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One call, as gRPC's own types have it: its listener hears messages that were read, and what is
 * sent here becomes frames. Its methods may be called from any thread; all that they do happens on
 * the loop of the call's connection, where the listener is called, too.
 */
final class GrpcCall<Q, R> extends ServerCall<Q, R> implements StreamEvents {

  private static final Status UNREAD =
      Status.RESOURCE_EXHAUSTED.withDescription(
          "expected a client that takes its replies: there is no heap left for one that has to wait"
              + " for it; take them, or start the server with a larger heap (-Xmx)");

  private final CallConnection connection;
  private final LoopStream stream;
  private final CallHead head;
  private final MethodDescriptor<Q, R> method;
  private final ArrivingMessages<Q> messages;
  private final long deadlineNs; // 0: none
  private final CallLog.Call line; // of the access log; null: there is none

  /** What other threads have given to the loop, and it has not done. */
  private final AtomicInteger elsewhere = new AtomicInteger();

  private volatile boolean cancelled;

  // Of the loop.
  private ServerCall.Listener<Q> listener; // null: it is being made
  private boolean wantsGzip;
  private boolean hasHead;
  private boolean isGzip;
  private Status closing; // null: the call was not closed
  private boolean isOver; // the listener heard that
  private long heapBytes; // of messages, until the call is over

  private GrpcCall(
      CallConnection connection,
      LoopStream stream,
      CallHead head,
      MethodDescriptor<Q, R> method,
      CallLog.Call line) {
    this.connection = connection;
    this.stream = stream;
    this.head = head;
    this.method = method;
    this.line = line;
    deadlineNs = head.timeoutNs() == 0 ? 0 : System.nanoTime() + head.timeoutNs() | 1;
    messages = new ArrivingMessages<>(this, stream, connection);
  }

  /** Begins a call, on its connection's loop. */
  static <Q, R> GrpcCall<Q, R> start(
      CallConnection connection,
      LoopStream stream,
      CallHead head,
      ServerMethodDefinition<Q, R> served,
      CallLog.Call line) {
    GrpcCall<Q, R> call =
        new GrpcCall<>(connection, stream, head, served.getMethodDescriptor(), line);
    stream.servedBy(call);
    try {
      call.listener = served.getServerCallHandler().startCall(call, head.metadata());
      call.messages.pump();
    } catch (RuntimeException | Error e) {
      call.failed(e);
    }
    return call;
  }

  /** The call as it is: nothing stands before it. */
  static GrpcCall<?, ?> of(ServerCall<?, ?> call) {
    return (GrpcCall<?, ?>) call;
  }

  // ---- What is told of it ----------------------------------------------------------------------

  /** Runs things where the call's listener is called. */
  Executor loop() {
    return stream.connection();
  }

  /** Whether that is the calling thread. */
  boolean isOnLoop() {
    return stream.connection().isOnLoop();
  }

  /** Whether the client says how long it waits. */
  boolean hasDeadline() {
    return deadlineNs != 0;
  }

  /** When the client does not wait any more, by the clock of System.nanoTime. */
  long deadlineNs() {
    return deadlineNs;
  }

  /** How long the client still waits; less than nothing: it does not any more. */
  long remainingNs() {
    return deadlineNs - System.nanoTime();
  }

  /** What the access log will say; null: nothing. */
  CallLog.Call line() {
    return line;
  }

  @Override
  public MethodDescriptor<Q, R> getMethodDescriptor() {
    return method;
  }

  @Override
  public Attributes getAttributes() {
    return connection.attributes();
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public boolean isReady() {
    return stream.isReady();
  }

  // ---- What is sent ----------------------------------------------------------------------------

  /** Whether something can be done at once; else the loop does it, behind what came before. */
  private boolean isNow() {
    return elsewhere.get() == 0 && isOnLoop();
  }

  private void later(Runnable step) {
    elsewhere.incrementAndGet();
    loop()
        .execute(() -> {
          elsewhere.decrementAndGet();
          step.run();
        });
  }

  @Override
  public void request(int count) {
    if (isNow()) {
      messages.request(count);
    } else {
      later(() -> messages.request(count));
    }
  }

  /** Takes effect if the client takes compressed messages, and the head was not sent. */
  @Override
  public void setCompression(String name) {
    wantsGzip = name.equals(GrpcCompression.GZIP);
  }

  @Override
  public void sendHeaders(Metadata metadata) {
    if (isNow()) {
      sendHead(metadata);
    } else {
      later(() -> sendHead(metadata));
    }
  }

  private void sendHead(Metadata metadata) {
    if (closing != null || hasHead) {
      return;
    }
    hasHead = true;
    isGzip = wantsGzip && head.acceptsGzip();
    stream.head(200, ReplyHead.of(metadata, isGzip), false);
  }

  @Override
  public void sendMessage(R message) {
    InputStream bytes = method.streamResponse(message);
    if (isNow()) {
      send(bytes);
    } else {
      later(() -> send(bytes));
    }
  }

  private void send(InputStream bytes) {
    if (closing != null || isOver) {
      return;
    }
    int count;
    try {
      count = connection.replies().send(stream, bytes, isGzip);
    } catch (IOException | RuntimeException | Error e) {
      failed(e);
      return;
    }
    if (count == ReplySender.NO_HEAP) {
      refuse(UNREAD);
    } else if (line != null) {
      line.sent(count);
    }
  }

  @Override
  public void close(Status status, Metadata metadata) {
    if (isNow()) {
      end(status, metadata);
    } else {
      later(() -> end(status, metadata));
    }
  }

  private void end(Status status, Metadata metadata) {
    if (closing == null && !isOver) {
      closing = status;
      sendEnd(status, metadata);
    }
  }

  private void sendEnd(Status status, Metadata metadata) {
    messages.close();
    if (hasHead) {
      stream.trailers(ReplyHead.trailers(status, metadata));
    } else {
      stream.head(200, ReplyHead.trailersOnly(status, metadata), true);
    }
  }

  // ---- What comes, on the loop -----------------------------------------------------------------

  @Override
  public int received(ByteBuffer bytes) {
    return messages.received(bytes);
  }

  @Override
  public void inputEnded() {
    messages.inputEnded();
  }

  @Override
  public void ready() {
    if (closing == null && listener != null) {
      try {
        listener.onReady();
      } catch (RuntimeException | Error e) {
        failed(e);
      }
    }
  }

  @Override
  public void ended(boolean complete) {
    messages.close();
    MessageBudget.HEAP.giveBack(heapBytes);
    heapBytes = 0;
    connection.ended(this);
    tellEnd(complete && closing != null ? closing : null);
  }

  /** Tells the listener once; null: the client did not get the call's end. */
  private void tellEnd(Status sent) {
    if (isOver) {
      return;
    }
    isOver = true;
    cancelled = sent == null;
    if (line != null) {
      line.ended(sent != null ? sent : closing != null ? closing : cancellation());
    }
    if (listener != null && cancelled) {
      listener.onCancel();
    } else if (listener != null) {
      listener.onComplete();
    }
  }

  private Status cancellation() {
    return hasDeadline() && remainingNs() <= 0 ? Status.DEADLINE_EXCEEDED : Status.CANCELLED;
  }

  /** Whether the listener can be told of messages. */
  boolean isStarted() {
    return listener != null;
  }

  boolean isOver() {
    return isOver;
  }

  /** A message is read, also one that nobody waits for any more: it may own memory. */
  void deliver(Q message) {
    try {
      listener.onMessage(message);
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  /** All messages were delivered. */
  void halfClose() {
    try {
      listener.onHalfClose();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  /** Something about the call fails, and the client is told. */
  void failed(Throwable failure) {
    refuse(MessageReading.status(failure));
  }

  /** The client may not go on, and is told why; the listener gives up what it has. */
  void refuse(Status why) {
    if (closing == null && !isOver) {
      closing = why; // as the access log has it
      try {
        tellEnd(null);
      } finally {
        sendEnd(why, new Metadata());
      }
    }
  }

  /** The client does not wait any more. */
  void expire() {
    stream.cancel();
  }

  // ---- Reading messages ------------------------------------------------------------------------

  CallHead head() {
    return head;
  }

  /** Reads a message, on whatever thread. What it throws is for {@link #failed}. */
  Q read(InputStream bytes, boolean compressed) throws IOException {
    InputStream all =
        compressed ? new DecompressedMessage(bytes, connection.limits().messageBytes()) : bytes;
    return MessageReading.read(method, all, this::holdHeap);
  }

  /** What a message takes of the heap is given back at the call's end. */
  private boolean holdHeap(long bytes) {
    if (!MessageBudget.HEAP.take(bytes)) {
      return false;
    }
    if (isOnLoop()) {
      heapBytes += bytes;
    } else {
      stream.connection().onLoop(() -> heapBytes += bytes);
    }
    return true;
  }

  /** A message has come, which had so many bytes on its way. */
  void came(int count) {
    if (line != null) {
      line.came(count);
    }
  }
}
