package io.nereid.client;

import io.nereid.types.StatusCode;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** A stream over gRPC: the transport's threads put replies in, the user's take them out. */
final class GrpcStream implements InferStream {

  /** How many replies the server may be ahead of the reader. */
  private static final int REPLIES_AHEAD = 8;

  private final ClientCall<GrpcRequest, GrpcReply> call;
  private final MemoryPool pool;

  /** Held while a request is encoded, which may take long; never by the transport's threads. */
  private final ReentrantLock sending = new ReentrantLock();

  private boolean finished; // under sending

  /** Guards the replies and the end. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition writable = lock.newCondition();
  private final Condition arrived = lock.newCondition();
  private final Queue<GrpcReply> replies = new ArrayDeque<>();
  private Status end; // null: not yet
  private boolean begun;
  private boolean closed;

  /** Requests that want outputs in shared memory, by id: their responses lie there. */
  private final Map<String, InferRequest> withSlices = new ConcurrentHashMap<>();

  private GrpcStream(ClientCall<GrpcRequest, GrpcReply> call, MemoryPool pool) {
    this.call = call;
    this.pool = pool;
  }

  static GrpcStream open(
      ClientCall<GrpcRequest, GrpcReply> call, Metadata headers, MemoryPool pool) {
    GrpcStream stream = new GrpcStream(call, pool);
    call.start(stream.new Listener(), headers);
    call.request(REPLIES_AHEAD);
    return stream;
  }

  @Override
  public void send(InferRequest request) {
    sending.lock();
    try {
      if (finished) {
        throw new IllegalStateException("the stream was finished");
      }
      lock.lock();
      try {
        await(writable, () -> call.isReady() || end != null);
        checkOpen();
        if (end != null) {
          throw end.isOk()
              ? new InferenceException(
                  StatusCode.FAILED_PRECONDITION, "the server has ended the stream")
              : GrpcFailures.of(end, begun);
        }
      } finally {
        lock.unlock();
      }
      remember(request);
      // Copies of inputs are left to the garbage collector: when they are written is not known.
      call.sendMessage(GrpcInferRequest.of(request, new Outgoing(pool)));
    } finally {
      sending.unlock();
    }
  }

  private void remember(InferRequest request) {
    if (request.outputs().values().stream().anyMatch(output -> output.slice() != null)) {
      String id =
          request
              .id()
              .orElseThrow(() ->
                  new IllegalArgumentException(
                      "a stream's request with outputs in shared memory needs an id"));
      withSlices.put(id, request);
    }
  }

  @Override
  public void finish() {
    sending.lock();
    try {
      if (!finished) {
        finished = true;
        call.halfClose();
      }
    } finally {
      sending.unlock();
    }
  }

  @Override
  public InferResponse next() {
    GrpcReply reply;
    lock.lock();
    try {
      await(arrived, () -> !replies.isEmpty() || end != null);
      checkOpen();
      reply = replies.poll();
      if (reply == null) {
        if (end.isOk()) {
          return null;
        }
        throw GrpcFailures.of(end, begun);
      }
    } finally {
      lock.unlock();
    }
    call.request(1);
    return read(reply);
  }

  private InferResponse read(GrpcReply reply) {
    String id = reply.message().getId();
    if (!reply.error().isEmpty()) {
      reply.lease().close();
      withSlices.remove(id);
      throw InferenceException.builder(StatusCode.UNKNOWN, reply.error())
          .requestId(id.isEmpty() ? null : id)
          .build();
    }
    InferResponse response = GrpcInferReply.read(withSlices.get(id), reply);
    if (response.isFinal()) {
      withSlices.remove(id);
    }
    return response;
  }

  @Override
  public boolean isEnded() {
    lock.lock();
    try {
      return closed || end != null && replies.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until it holds; under the lock. */
  private void await(Condition condition, BooleanSupplier holds) {
    try {
      while (!closed && !holds.getAsBoolean()) {
        condition.await();
      }
    } catch (InterruptedException e) {
      call.cancel("the thread was interrupted", e);
      Thread.currentThread().interrupt();
      throw new InferenceException(
          StatusCode.CANCELLED, "the thread was interrupted while it waited for the server", e);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the stream is closed");
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      replies.forEach(reply -> reply.lease().close());
      replies.clear();
      writable.signalAll();
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
    call.cancel("the caller closed the stream", null);
  }

  /** What the transport tells. */
  private final class Listener extends ClientCall.Listener<GrpcReply> {

    @Override
    public void onMessage(GrpcReply message) {
      lock.lock();
      try {
        begun = true;
        if (closed) {
          message.lease().close();
        } else {
          replies.add(message);
          arrived.signal();
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onReady() {
      lock.lock();
      try {
        writable.signal();
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      lock.lock();
      try {
        end = status;
        writable.signalAll();
        arrived.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
