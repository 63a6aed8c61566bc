package io.nereid.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.client.ClientOptions.Compression;
import io.nereid.types.StatusCode;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * A reply over HTTP that was received as a whole. The holder of a reply closes its lease, if there
 * is one.
 *
 * @param status its status
 * @param headers its header fields
 * @param text contains the JSON part, or the whole body if it has no other
 * @param textLength the length of the text
 * @param binary the part behind the JSON; null: there is none
 * @param binarySize the length of the binary part
 */
record HttpReply(
    int status,
    HttpHeaders headers,
    byte[] text,
    int textLength,
    MemoryPool.Lease binary,
    int binarySize) {

  boolean isSuccess() {
    return status / 100 == 2;
  }

  /** The part behind the JSON; empty when there is none. */
  ByteBuffer binaryPart() {
    return binary == null
        ? ByteBuffer.allocate(0)
        : Buffers.slice(binary.buffer(), 0, binarySize).asReadOnlyBuffer();
  }

  /**
   * Receives one reply on threads of the JDK's client: JSON goes into an array, binary data
   * straight into memory of the pool, at an aligned address.
   */
  static final class Reader
      implements HttpResponse.BodyHandler<HttpReply>, HttpResponse.BodySubscriber<HttpReply> {

    static final String JSON_LENGTH = "Inference-Header-Content-Length";

    /** The most memory that is reserved for text on the word of a header. */
    private static final int MOST_TRUSTED_TEXT_BYTES = 1 << 20;

    private final MemoryPool pool;
    private final long mostBytes;

    /** The compression that the server was told it may use. */
    private final Compression accepted;

    private final CompletableFuture<HttpReply> result = new CompletableFuture<>();
    private volatile boolean begun;

    /** Bytes of the body still to come. */
    @GuardedBy("this")
    private long left;

    /** Whether none are still to come, or their number is unknown. */
    @GuardedBy("this")
    private boolean mayBeGivenBack;

    private int status;
    private HttpHeaders headers;

    /**
     * The reason for refusing the body; it is kept until the body is subscribed to, as only
     * cancelling the subscription ends the connection.
     */
    private InferenceException refusal;

    private Flow.Subscription subscription;
    private ReplyInflater inflater; // null: not compressed
    private long jsonLength; // -1: everything is text
    private byte[] text;
    private int textSize;
    private MemoryPool.Lease binary;
    private int binarySize;

    Reader(MemoryPool pool, long mostBytes, Compression accepted) {
      this.pool = pool;
      this.mostBytes = mostBytes;
      this.accepted = accepted;
    }

    /** True if part of the reply has come, so that the server has begun to answer. */
    boolean hasBegun() {
      return begun;
    }

    /**
     * Cancels the call, which closes its connection, unless another call may have the connection by
     * now: the JDK's client passes it on as soon as the last byte was taken, and would still close
     * it.
     */
    synchronized void whileConnected(Runnable cancel) {
      if (!mayBeGivenBack) {
        cancel.run();
      }
    }

    /**
     * Takes buffers, before the JDK's client goes on; a cancellation has ended by then, or is too
     * late.
     */
    private synchronized void took(List<ByteBuffer> buffers) {
      for (ByteBuffer buffer : buffers) {
        left -= buffer.remaining();
      }
      mayBeGivenBack = left <= 0;
    }

    private synchronized void expect(HttpHeaders fields) {
      left = fields.firstValueAsLong("Content-Length").orElse(0);
      mayBeGivenBack = left <= 0;
    }

    @Override
    public HttpResponse.BodySubscriber<HttpReply> apply(HttpResponse.ResponseInfo info) {
      expect(info.headers());
      begun = true;
      status = info.statusCode();
      headers = info.headers();
      try {
        prepare();
      } catch (InferenceException e) {
        refusal = e;
      }
      return this;
    }

    /** Makes room for the body that the headers announce, or refuses it. */
    private void prepare() {
      String coding = headers.firstValue("Content-Encoding").orElse("identity");
      long length = headers.firstValueAsLong("Content-Length").orElse(-1);
      if (!coding.equals("identity")) {
        if (accepted == Compression.NONE || !coding.equals(accepted.coding())) {
          throw InferenceException.malformed(
              "it is encoded as '" + coding + "', nobody asked for that");
        }
        inflater = new ReplyInflater(accepted);
        length = -1; // the inflated length is unknown
      }
      jsonLength = jsonLength(length);
      long wanted = jsonLength >= 0 ? jsonLength : Math.max(0, length);
      text = new byte[(int) Math.min(wanted, MOST_TRUSTED_TEXT_BYTES)];
      if (length > mostBytes) {
        throw tooLarge(length + " bytes");
      }
      if (jsonLength >= 0 && length > jsonLength) {
        binary = pool.take(length - jsonLength);
      }
    }

    private long jsonLength(long length) {
      String value = headers.firstValue(JSON_LENGTH).orElse(null);
      if (value == null) {
        return -1;
      }
      long json;
      try {
        json = Long.parseLong(value.strip());
      } catch (NumberFormatException e) {
        throw InferenceException.malformed(JSON_LENGTH + " is '" + value + "'", e);
      }
      if (json < 0 || json > Integer.MAX_VALUE || length >= 0 && json > length) {
        throw InferenceException.malformed(
            JSON_LENGTH
                + " is "
                + json
                + (length < 0 ? "" : ", of a body of " + length + " bytes"));
      }
      return json;
    }

    private InferenceException tooLarge(String size) {
      return new InferenceException(
          StatusCode.RESOURCE_EXHAUSTED,
          "the reply has " + size + ", and maxResponseBytes is " + mostBytes);
    }

    @Override
    public void onSubscribe(Flow.Subscription granted) {
      subscription = granted;
      if (refusal != null) {
        granted.cancel();
        result.completeExceptionally(refusal);
        return;
      }
      granted.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      took(buffers);
      if (result.isDone()) {
        return;
      }
      try {
        for (ByteBuffer buffer : buffers) {
          if (inflater == null) {
            append(buffer);
          } else {
            inflater.take(buffer, this::append);
          }
        }
      } catch (InferenceException e) {
        subscription.cancel();
        fail(e);
      } catch (OutOfMemoryError e) {
        subscription.cancel();
        fail(
            new InferenceException(
                StatusCode.RESOURCE_EXHAUSTED, "no memory for the reply after " + textSize, e));
      }
    }

    private void append(ByteBuffer buffer) {
      if (textSize + binarySize + buffer.remaining() > mostBytes) {
        throw tooLarge("more bytes");
      }
      int asText =
          jsonLength < 0
              ? buffer.remaining()
              : (int) Math.min(jsonLength - textSize, buffer.remaining());
      if (asText > text.length - textSize) {
        long doubled = Math.max(textSize + (long) asText, 2L * text.length);
        text = Arrays.copyOf(text, (int) Math.min(doubled, mostBytes));
      }
      buffer.get(text, textSize, asText);
      textSize += asText;
      if (buffer.hasRemaining()) {
        appendBinary(buffer);
      }
    }

    private void appendBinary(ByteBuffer buffer) {
      long needed = (long) binarySize + buffer.remaining();
      if (binary == null || needed > binary.byteSize()) {
        grow(needed);
      }
      binary.buffer().put(binarySize, buffer, buffer.position(), buffer.remaining());
      binarySize = (int) needed;
    }

    /** Enlarges the memory, for a chunked body of unknown length. */
    private void grow(long needed) {
      MemoryPool.Lease old = binary;
      binary = pool.take(Math.min(mostBytes, Math.max(needed, 2L * binarySize)));
      if (old != null) {
        binary.buffer().put(0, old.buffer(), 0, binarySize);
        old.close();
      }
    }

    private void fail(Throwable failure) {
      if (inflater != null) {
        inflater.close();
      }
      result.completeExceptionally(failure);
    }

    @Override
    public void onError(Throwable failure) {
      fail(failure);
    }

    @Override
    public void onComplete() {
      if (inflater != null && !result.isDone()) {
        try {
          inflater.finish();
        } catch (InferenceException e) {
          fail(e);
          return;
        }
        inflater.close();
      }
      if (jsonLength >= 0 && textSize < jsonLength) {
        result.completeExceptionally(
            InferenceException.malformed(
                JSON_LENGTH + " is " + jsonLength + ", of a body of " + textSize + " bytes"));
        return;
      }
      result.complete(new HttpReply(status, headers, text, textSize, binary, binarySize));
    }

    @Override
    public CompletionStage<HttpReply> getBody() {
      return result;
    }
  }
}
