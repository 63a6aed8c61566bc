package io.nereid.client;

import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLHandshakeException;

/** Turns unsuccessful replies and broken connections into an {@link InferenceException}. */
final class HttpFailures {

  /** The longest wait of a caller. */
  private static final long MOST_RETRY_AFTER_SECONDS = 86_400;

  private HttpFailures() {}

  /** The exception for an unsuccessful reply. */
  static InferenceException of(HttpReply reply) {
    int status = reply.status();
    return InferenceException.builder(
            code(status), HttpFailures.of(status, reply.text(), reply.textLength()))
        .httpStatus(status)
        .worthRetrying(status == 503 || status == 502 || status == 429)
        .retryAfterNs(retryAfterNs(reply))
        .build();
  }

  /** The exception for an error event of a stream; a status of 0, or of success, means unknown. */
  static InferenceException ofEvent(int status, String message) {
    return status / 100 <= 2
        ? new InferenceException(StatusCode.UNKNOWN, message)
        : InferenceException.builder(code(status), message).httpStatus(status).build();
  }

  private static StatusCode code(int status) {
    return switch (status) {
      case 400, 422 -> StatusCode.INVALID_ARGUMENT;
      case 401 -> StatusCode.UNAUTHENTICATED;
      case 403 -> StatusCode.PERMISSION_DENIED;
      case 404 -> StatusCode.NOT_FOUND;
      case 405, 501 -> StatusCode.UNIMPLEMENTED;
      case 408, 504 -> StatusCode.DEADLINE_EXCEEDED;
      case 409 -> StatusCode.ALREADY_EXISTS;
      case 412 -> StatusCode.FAILED_PRECONDITION;
      case 413, 429, 431 -> StatusCode.RESOURCE_EXHAUSTED;
      case 499 -> StatusCode.CANCELLED;
      case 500 -> StatusCode.INTERNAL;
      case 502, 503 -> StatusCode.UNAVAILABLE;
      default -> StatusCode.UNKNOWN;
    };
  }

  private static long retryAfterNs(HttpReply reply) {
    String value = reply.headers().firstValue("Retry-After").orElse("").strip();
    if (value.isEmpty() || value.length() > 9 || !value.chars().allMatch(Character::isDigit)) {
      return 0; // a date is ignored, since it would need synchronised clocks
    }
    return Duration.ofSeconds(Math.min(Long.parseLong(value), MOST_RETRY_AFTER_SECONDS)).toNanos();
  }

  /** The exception for a missing or incomplete reply. */
  static InferenceException of(Throwable failure, boolean begun) {
    if (failure instanceof CompletionException && failure.getCause() != null) {
      return of(failure.getCause(), begun);
    }
    if (failure instanceof InferenceException known) {
      return known;
    }
    if (failure instanceof CancellationException) {
      return new InferenceException(StatusCode.CANCELLED, "the call was cancelled", failure);
    }
    if (failure instanceof ConnectException || failure instanceof HttpConnectTimeoutException) {
      return unreachable((IOException) failure);
    }
    if (failure instanceof SSLHandshakeException) {
      return new InferenceException(
          StatusCode.UNAVAILABLE, "no TLS connection came about: " + failure.getMessage(), failure);
    }
    if (failure instanceof IOException e) {
      return e.getCause() instanceof InferenceException known ? known : broken(e, begun);
    }
    return new InferenceException(
        StatusCode.UNKNOWN, "the request failed in the client: " + failure, failure);
  }

  private static InferenceException broken(IOException cause, boolean begun) {
    return InferenceException.builder(
            StatusCode.UNAVAILABLE,
            begun
                ? "the connection ended within the reply: " + cause.getMessage()
                : "the connection ended before a reply: " + cause.getMessage())
        .cause(cause)
        .worthRetrying(!begun)
        .build();
  }

  private static InferenceException unreachable(IOException cause) {
    String reason = cause.getMessage();
    if (reason == null && cause.getCause() != null) {
      reason = cause.getCause().toString();
    }
    // The JDK's client tries a refused connection again on the channel that it has closed, and
    // reports that.
    boolean refused = cause.getCause() instanceof ClosedChannelException;
    return InferenceException.builder(
            StatusCode.UNAVAILABLE,
            "no connection came about: " + (refused || reason == null ? "refused" : reason))
        .cause(cause)
        .neverSent(true)
        .worthRetrying(true)
        .build();
  }

  private static final int MOST_CHARACTERS = 2000;

  static String of(int status, byte[] body, int length) {
    String text = new String(body, 0, length, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return "the server answered with status " + status + " and no reason";
    }
    String message = text.startsWith("{") ? ofJson(body, length) : null;
    return shortened(message == null ? "status " + status + ": " + text : message);
  }

  /** The message of an error in JSON; null: no JSON, or none with a message. */
  private static String ofJson(byte[] body, int length) {
    Object tree;
    try {
      tree = JsonReading.tree(body, length);
    } catch (InferenceException e) {
      return null;
    }
    return tree instanceof Map<?, ?> members ? message(members) : null;
  }

  private static String message(Map<?, ?> members) {
    for (String name : new String[] {"error", "detail", "message"}) {
      Object value = members.get(name);
      if (value instanceof Map<?, ?> nested) {
        String inner = message(nested);
        return inner == null ? nested.toString() : inner;
      }
      if (value != null) {
        return value.toString();
      }
    }
    return null;
  }

  static String shortened(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "...";
  }
}
