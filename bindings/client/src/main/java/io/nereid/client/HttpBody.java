package io.nereid.client;

import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/** A request body out of buffers, which are sent as they are. */
final class HttpBody implements HttpRequest.BodyPublisher {

  private final List<ByteBuffer> buffers;
  private final long byteSize;

  HttpBody(List<ByteBuffer> buffers) {
    this.buffers = buffers;
    byteSize = buffers.stream().mapToLong(ByteBuffer::remaining).sum();
  }

  @Override
  public long contentLength() {
    return byteSize;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
    subscriber.onSubscribe(new Pieces(buffers.iterator(), subscriber));
  }

  /** Hands the buffers out as they are asked for. */
  private static final class Pieces implements Flow.Subscription {
    private final Iterator<ByteBuffer> left;
    private final Flow.Subscriber<? super ByteBuffer> subscriber;
    private final AtomicLong demand = new AtomicLong();
    private volatile boolean ended;

    private Pieces(Iterator<ByteBuffer> left, Flow.Subscriber<? super ByteBuffer> subscriber) {
      this.left = left;
      this.subscriber = subscriber;
    }

    @Override
    public void request(long count) {
      if (count <= 0) {
        ended = true;
        subscriber.onError(new IllegalArgumentException("demand of " + count));
        return;
      }
      // Who raises the demand from 0 hands out; others, and calls from within onNext, only raise
      // it.
      if (demand.getAndUpdate(had -> had + count < 0 ? Long.MAX_VALUE : had + count) > 0) {
        return;
      }
      do {
        if (ended) {
          return;
        }
        if (left.hasNext()) {
          subscriber.onNext(left.next().duplicate());
        }
        if (!left.hasNext() && !ended) {
          ended = true;
          subscriber.onComplete();
          return;
        }
      } while (demand.decrementAndGet() > 0);
    }

    @Override
    public void cancel() {
      ended = true;
    }
  }
}
