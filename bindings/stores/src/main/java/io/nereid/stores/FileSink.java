package io.nereid.stores;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A body that goes into a part of a file as it comes, by the thread of the HTTP client that
 * receives it. The file stays the caller's.
 */
final class FileSink implements BodySubscriber<byte[]> {

  private final FileChannel channel;
  private final long start;
  private final long end;
  private final AtomicLong here;
  private final AtomicLong done;
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private long at;
  private Flow.Subscription subscription;

  /** Both counters are told of each byte. */
  FileSink(FileChannel channel, long start, long end, AtomicLong here, AtomicLong done) {
    this.channel = channel;
    this.start = start;
    this.end = end;
    this.here = here;
    this.done = done;
    at = start;
  }

  AtomicLong here() {
    return here;
  }

  /** True if an answer is what belongs there. */
  boolean takes(int status, String range) {
    return status == 206 && range.startsWith("bytes " + start + "-") || status == 200 && start == 0;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    try {
      for (ByteBuffer buffer : buffers) {
        if (at + buffer.remaining() > end) {
          throw new IOException("expected a body that ends at byte " + end + ", got more");
        }
        while (buffer.hasRemaining() && !body.isDone()) {
          int written = channel.write(buffer, at);
          at += written;
          here.addAndGet(written);
          done.addAndGet(written);
        }
      }
    } catch (IOException e) {
      subscription.cancel();
      body.completeExceptionally(e);
    }
  }

  @Override
  public void onError(Throwable cause) {
    body.completeExceptionally(cause);
  }

  @Override
  public void onComplete() {
    body.complete(new byte[0]);
  }
}
