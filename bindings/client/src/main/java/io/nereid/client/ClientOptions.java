package io.nereid.client;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The options of a client. Build one with {@link #builder()}.
 *
 * @param headers sent with every request, by lower-case names: HTTP fields, gRPC metadata
 * @param tls for {@code https} and {@code grpcs}
 * @param connectTimeout the longest time for connecting
 * @param deadline the longest time of a call without its own deadline; empty: no limit
 * @param changeDeadline how long loading a model, or another change of the server, may take
 * @param keepAlive when a gRPC connection counts as dead; empty: when the system reports it
 * @param requestCompression how requests for inference are compressed
 * @param replyCompression how the server may compress replies to inference over HTTP
 * @param binaryData whether tensors go over HTTP as binary data, or as JSON
 * @param maxResponseBytes how large a reply may be
 * @param retry when failed calls are made again
 */
public record ClientOptions(
    Map<String, String> headers,
    TlsOptions tls,
    Duration connectTimeout,
    Optional<Duration> deadline,
    Duration changeDeadline,
    Optional<KeepAlive> keepAlive,
    Compression requestCompression,
    Compression replyCompression,
    boolean binaryData,
    int maxResponseBytes,
    RetryPolicy retry) {

  /** The defaults of {@link Builder}. */
  public static final ClientOptions DEFAULT = builder().build();

  /** Checks the values. */
  public ClientOptions {
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    Objects.requireNonNull(tls);
    Objects.requireNonNull(retry);
    checkPositive(connectTimeout, "connectTimeout");
    deadline.ifPresent(duration -> checkPositive(duration, "deadline"));
    checkPositive(changeDeadline, "changeDeadline");
    Objects.requireNonNull(keepAlive);
    Objects.requireNonNull(requestCompression);
    Objects.requireNonNull(replyCompression);
    if (maxResponseBytes <= 0) {
      throw new IllegalArgumentException(
          "expected maxResponseBytes above 0, got " + maxResponseBytes);
    }
  }

  private static void checkPositive(Duration duration, String what) {
    if (!isPositive(duration)) {
      throw new IllegalArgumentException("expected " + what + " above 0, got " + duration);
    }
  }

  private static boolean isPositive(Duration duration) {
    return !duration.isZero() && !duration.isNegative();
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link ClientOptions}. */
  public static final class Builder {
    private final Map<String, String> headers = new LinkedHashMap<>();
    private TlsOptions tls = TlsOptions.DEFAULT;
    private Duration connectTimeout = Duration.ofSeconds(10);
    private Optional<Duration> deadline = Optional.of(Duration.ofSeconds(60));
    private Duration changeDeadline = Duration.ofMinutes(10);
    private Optional<KeepAlive> keepAlive = Optional.empty();
    private Compression requestCompression = Compression.NONE;
    private Compression replyCompression = Compression.NONE;
    private boolean binaryData = true;
    private int maxResponseBytes = Integer.MAX_VALUE;
    private RetryPolicy retry = RetryPolicy.DEFAULT;

    private Builder() {}

    /** A header to send with every request, such as {@code authorization}; replaces one before. */
    public Builder header(String name, String value) {
      headers.put(name.toLowerCase(Locale.ROOT), Objects.requireNonNull(value));
      return this;
    }

    /** For {@code https} and {@code grpcs}; the JVM's authorities are trusted by default. */
    public Builder tls(TlsOptions options) {
      tls = options;
      return this;
    }

    /** Sets how long opening a connection may take; 10 s by default. */
    public Builder connectTimeout(Duration duration) {
      connectTimeout = duration;
      return this;
    }

    /** Sets how long a call may take that sets no deadline of its own; 60 s by default. */
    public Builder deadline(Duration duration) {
      deadline = Optional.of(duration);
      return this;
    }

    /** Sets no limit for calls without their own deadline. */
    public Builder noDeadline() {
      deadline = Optional.empty();
      return this;
    }

    /**
     * Sets how long loading a model, or another change of the server, may take; 10 minutes by
     * default.
     */
    public Builder changeDeadline(Duration duration) {
      changeDeadline = duration;
      return this;
    }

    /**
     * Pings a silent server while calls wait for it, so that they fail soon if it has vanished.
     * Only over gRPC; off by default, as servers disconnect clients that ping often.
     */
    public Builder keepAlive(KeepAlive times) {
      keepAlive = Optional.of(times);
      return this;
    }

    /**
     * Sets how requests for inference are compressed; they are not by default. Compression costs
     * more time than it saves unless the network is slow and the tensors are compressible.
     */
    public Builder compressRequests(Compression how) {
      requestCompression = how;
      return this;
    }

    /**
     * Sets how the server may compress replies to inference over HTTP; it may not by default. Over
     * gRPC the client always accepts gzip, and the server decides.
     */
    public Builder compressReplies(Compression how) {
      replyCompression = how;
      return this;
    }

    /**
     * True if tensors go over HTTP as binary data behind the JSON, by default, or within it:
     * larger, slower, and without FP16 and BF16, but supported by every server. Over gRPC they are
     * always binary.
     */
    public Builder binaryData(boolean binary) {
      binaryData = binary;
      return this;
    }

    /** Sets the size of the largest reply that the client takes; 2^31 - 1 bytes by default. */
    public Builder maxResponseBytes(int byteSize) {
      maxResponseBytes = byteSize;
      return this;
    }

    /** Sets when failed calls are repeated; {@link RetryPolicy#DEFAULT} by default. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /** The finished value. */
    public ClientOptions build() {
      return new ClientOptions(
          headers,
          tls,
          connectTimeout,
          deadline,
          changeDeadline,
          keepAlive,
          requestCompression,
          replyCompression,
          binaryData,
          maxResponseBytes,
          retry);
    }
  }

  /** The ways to compress the bodies of inference on the wire. */
  public enum Compression {
    /** Bodies are not compressed. */
    NONE("identity"),
    /** Gzip, over both protocols. */
    GZIP("gzip"),
    /** The format of zlib, over HTTP only. */
    DEFLATE("deflate");

    private final String coding;

    Compression(String coding) {
      this.coding = coding;
    }

    /** The name in headers. */
    String coding() {
      return coding;
    }
  }

  /**
   * Decides when a gRPC connection with calls counts as dead.
   *
   * @param silence the silence after which the server is pinged; at least 10 s in gRPC
   * @param timeout the longest time for its reply
   */
  public record KeepAlive(Duration silence, Duration timeout) {

    /** Checks the values. */
    public KeepAlive {
      if (!isPositive(silence) || !isPositive(timeout)) {
        throw new IllegalArgumentException(
            "expected a silence and a timeout above 0, got " + silence + " and " + timeout);
      }
    }
  }
}
