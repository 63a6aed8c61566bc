package io.nereid.client;

import io.nereid.client.ClientOptions.Compression;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** A request body from buffers, which are sent without a copy, again for each attempt. */
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

  /** Passes the buffers on as the JDK's client asks for them. */
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
      // The caller that raises the demand from 0 hands out buffers; other callers, and calls from
      // within onNext, only raise the demand.
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

  /** Compresses a request body, once for all attempts. */
  static final class Compressor {

    private static final int CHUNK_BYTES = 64 << 10;

    /** The head of a gzip file: deflate, without name and time, unknown system. */
    private static final byte[] GZIP_HEAD = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

    private static final int GZIP_TAIL_BYTES = 8;

    private final MemoryPool.Outgoing outgoing;
    private final List<ByteBuffer> full = new ArrayList<>();
    private ByteBuffer chunk;

    private Compressor(MemoryPool.Outgoing outgoing) {
      this.outgoing = outgoing;
      chunk = newChunk();
    }

    /** Returns the bytes compressed; {@code outgoing} owns the memory. */
    static List<ByteBuffer> of(
        Compression how, List<ByteBuffer> body, MemoryPool.Outgoing outgoing) {
      return how == Compression.NONE ? body : new Compressor(outgoing).write(how, body);
    }

    private List<ByteBuffer> write(Compression how, List<ByteBuffer> body) {
      boolean gzip = how == Compression.GZIP;
      CRC32 checksum = new CRC32();
      long byteSize = 0;
      Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, gzip);
      try {
        if (gzip) {
          chunk.put(GZIP_HEAD);
        }
        for (ByteBuffer piece : body) {
          byteSize += piece.remaining();
          if (gzip) {
            checksum.update(piece.duplicate());
          }
          deflater.setInput(piece.duplicate());
          while (!deflater.needsInput()) {
            deflate(deflater);
          }
        }
        deflater.finish();
        while (!deflater.finished()) {
          deflate(deflater);
        }
      } finally {
        deflater.end();
      }
      if (gzip) {
        if (chunk.remaining() < GZIP_TAIL_BYTES) {
          nextChunk();
        }
        chunk.order(ByteOrder.LITTLE_ENDIAN);
        chunk.putInt((int) checksum.getValue()).putInt((int) byteSize);
      }
      full.add(chunk.flip());
      return full;
    }

    private void deflate(Deflater deflater) {
      if (!chunk.hasRemaining()) {
        nextChunk();
      }
      deflater.deflate(chunk);
    }

    private void nextChunk() {
      full.add(chunk.flip());
      chunk = newChunk();
    }

    private ByteBuffer newChunk() {
      return outgoing.take(CHUNK_BYTES);
    }
  }
}
