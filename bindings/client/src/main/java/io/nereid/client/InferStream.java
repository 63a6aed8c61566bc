package io.nereid.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.nereid.proto.InferParameter;
import io.nereid.types.StatusCode;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A call with requests in one direction and responses in the other, each in order and neither
 * waiting for the other. One thread may send while another reads.
 *
 * <p>Flow control holds in both directions: {@link #send} waits while the server does not read, and
 * the server waits while {@link #next} is not called. So a program that sends much before it reads
 * must use different threads.
 *
 * <p>Models answer once, never, or many times. {@link InferResponse#isFinal} says whether a
 * response is the last to its request; a model that ends without a further response reports that
 * only for requests with the parameter {@code triton_enable_empty_final_response}, set to true.
 * Responses are matched to requests by {@linkplain InferRequest.Builder#id ids}.
 *
 * <p>The transport's threads put replies in, and the caller's threads take them out.
 */
public final class InferStream implements AutoCloseable {

  /** The number of replies that the server may send ahead of the reader. */
  private static final int REPLIES_AHEAD = 8;

  private final ClientCall<GrpcRequest, GrpcReply> call;
  private final MemoryPool pool;

  /** Held while a request is encoded, which may take long; never by the transport's threads. */
  private final ReentrantLock sending = new ReentrantLock();

  @GuardedBy("sending")
  private boolean finished;

  private final ReentrantLock lock = new ReentrantLock();

  private final Condition writable = lock.newCondition();
  private final Condition arrived = lock.newCondition();

  @GuardedBy("lock")
  private final Queue<GrpcReply> replies = new ArrayDeque<>();

  @GuardedBy("lock")
  private Status end; // null: not yet

  @GuardedBy("lock")
  private boolean begun;

  @GuardedBy("lock")
  private boolean closed;

  /**
   * Requests that want outputs in shared memory, by id, for making the outputs of their responses.
   */
  private final Map<String, InferRequest> withSlices = new ConcurrentHashMap<>();

  private InferStream(ClientCall<GrpcRequest, GrpcReply> call, MemoryPool pool) {
    this.call = call;
    this.pool = pool;
  }

  static InferStream open(
      ClientCall<GrpcRequest, GrpcReply> call, Metadata headers, MemoryPool pool) {
    InferStream stream = new InferStream(call, pool);
    call.start(stream.new Listener(), headers);
    call.request(REPLIES_AHEAD);
    return stream;
  }

  /** Sends a request; its inputs must not change until its response has come. */
  public void send(InferRequest request) {
    sending.lock();
    try {
      if (finished) {
        throw new IllegalStateException("the stream was finished");
      }
      lock.lock();
      try {
        while (!closed && !call.isReady() && end == null) {
          await(writable);
        }
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
      // Copies of inputs are left to the garbage collector, since the time of writing them is
      // unknown.
      GrpcRequest message = GrpcRequest.of(request, new MemoryPool.Outgoing(pool));
      remember(request);
      call.sendMessage(message);
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

  /** Ends the requests; the server then ends the stream when all are answered. */
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

  /**
   * The next response; waits for it. Null when the server has ended the stream.
   *
   * @throws InferenceException when a request failed, which {@link InferenceException#requestId}
   *     names when the request had an id and after which the stream goes on; or when the stream as
   *     a whole failed, after which every further call throws
   */
  public InferResponse next() {
    GrpcReply reply;
    lock.lock();
    try {
      while (!closed && replies.isEmpty() && end == null) {
        await(arrived);
      }
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
      InferParameter last = reply.message().getParametersMap().get("triton_final_response");
      if (last == null || last.getBoolParam()) {
        withSlices.remove(id);
      }
      reply.lease().close();
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

  /** True if the stream has ended and all responses were read. */
  public boolean isEnded() {
    lock.lock();
    try {
      return closed || end != null && replies.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a signal of the condition. */
  @GuardedBy("lock")
  private void await(Condition condition) {
    try {
      condition.await();
    } catch (InterruptedException e) {
      call.cancel("the thread was interrupted", e);
      Thread.currentThread().interrupt();
      throw new InferenceException(
          StatusCode.CANCELLED, "the thread was interrupted while it waited for the server", e);
    }
  }

  @GuardedBy("lock")
  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the stream is closed");
    }
  }

  /** Cancels unfinished requests. Closing twice does nothing. */
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

  /** Takes replies and the end from the transport's threads. */
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
