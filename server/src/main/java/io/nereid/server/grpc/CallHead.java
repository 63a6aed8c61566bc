package io.nereid.server.grpc;

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What the head of a call says, by gRPC's rules for HTTP/2. It does not change: calls with the same
 * head share it.
 */
final class CallHead {

  private static final String CONTENT_TYPE = "application/grpc";

  /** Most digits of a timeout. */
  private static final int TIMEOUT_DIGITS = 8;

  /** Longer ones are as good as none. */
  private static final long MOST_NS = Long.MAX_VALUE / 4;

  private static final String IDENTITY = "identity";

  private final ServerMethodDefinition<?, ?> method; // null: the call is refused
  private final int httpStatus; // of a refusal
  private final Status refusal; // null: there is none
  private final Metadata metadata;
  private final long timeoutNs; // 0: it says none
  private final boolean isGzip;
  private final boolean acceptsGzip;

  private CallHead(
      Reading read, ServerMethodDefinition<?, ?> method, int httpStatus, Status refusal) {
    this.method = method;
    this.httpStatus = httpStatus;
    this.refusal = refusal;
    metadata = InternalMetadata.newMetadata(read.metadata.toArray(byte[][]::new));
    timeoutNs = read.timeoutNs;
    isGzip = GrpcCompression.GZIP.equals(read.encoding);
    acceptsGzip = read.accepted.contains(GrpcCompression.GZIP);
  }

  // ---- Reading ---------------------------------------------------------------------------------

  /** Fields as they are found. */
  private static final class Reading {
    private String httpMethod = "";
    private String path = "";
    private String contentType = "";
    private String encoding = IDENTITY;
    private List<String> accepted = List.of();
    private long timeoutNs;
    private String wrong; // what is expected; null: nothing is wrong
    private final List<byte[]> metadata = new ArrayList<>();
  }

  /** Reads names and values in turns; the methods are known by their paths. */
  static CallHead of(List<String> fields, MethodTable methods) {
    Reading read = new Reading();
    for (int i = 0; i < fields.size(); i += 2) {
      readField(read, fields.get(i), fields.get(i + 1));
    }
    if (!read.httpMethod.equals("POST")) {
      return refused(
          read, 405, Status.INTERNAL, "Method '" + read.httpMethod + "' is not supported");
    }
    if (!isGrpc(read.contentType)) {
      return refused(
          read, 415, Status.INTERNAL, "Content-Type '" + read.contentType + "' is not supported");
    }
    ServerMethodDefinition<?, ?> method = methods.get(read.path);
    if (method == null) {
      return refused(read, 200, Status.UNIMPLEMENTED, "Method not found: " + name(read.path));
    }
    if (!read.encoding.equals(IDENTITY) && !read.encoding.equals(GrpcCompression.GZIP)) {
      return refused(
          read,
          200,
          Status.UNIMPLEMENTED,
          "expected messages that are not compressed or by gzip, got " + read.encoding);
    }
    if (read.wrong != null) {
      return refused(read, 200, Status.INTERNAL, "expected " + read.wrong);
    }
    return new CallHead(read, method, 0, null);
  }

  private static CallHead refused(Reading read, int httpStatus, Status status, String why) {
    Status refusal = status.withDescription(GrpcStatus.description(why));
    return new CallHead(read, null, httpStatus, refusal);
  }

  private static String name(String path) {
    return path.startsWith("/") ? path.substring(1) : path;
  }

  private static boolean isGrpc(String contentType) {
    if (!contentType.startsWith(CONTENT_TYPE)) {
      return false;
    }
    int end = CONTENT_TYPE.length();
    return contentType.length() == end
        || contentType.charAt(end) == '+'
        || contentType.charAt(end) == ';';
  }

  private static void readField(Reading read, String name, String value) {
    switch (name) {
      case ":method" -> read.httpMethod = value;
      case ":path" -> read.path = value;
      case ":authority", ":scheme", "te" -> {}
      case "content-type" -> {
        read.contentType = value;
        addMetadata(read, name, value);
      }
      case "grpc-encoding" -> read.encoding = value;
      case "grpc-accept-encoding" -> read.accepted = List.of(value.split("\\s*,\\s*"));
      case "grpc-timeout" -> read.timeoutNs = timeoutNs(read, value);
      default -> addMetadata(read, name, value);
    }
  }

  private static long timeoutNs(Reading read, String value) {
    int digits = value.length() - 1;
    long count = 0;
    for (int i = 0; i < digits; i++) {
      count = 10 * count + Character.digit(value.charAt(i), 10);
    }
    TimeUnit unit =
        switch (value.isEmpty() ? ' ' : value.charAt(digits)) {
          case 'H' -> TimeUnit.HOURS;
          case 'M' -> TimeUnit.MINUTES;
          case 'S' -> TimeUnit.SECONDS;
          case 'm' -> TimeUnit.MILLISECONDS;
          case 'u' -> TimeUnit.MICROSECONDS;
          case 'n' -> TimeUnit.NANOSECONDS;
          default -> null;
        };
    boolean isNumber = value.chars().limit(Math.max(0, digits)).allMatch(c -> c >= '0' && c <= '9');
    if (digits < 1 || digits > TIMEOUT_DIGITS || unit == null || !isNumber) {
      read.wrong = "a grpc-timeout as 100m or 5S, got " + value;
      return 0;
    }
    return Math.clamp(unit.toNanos(count), 1, MOST_NS);
  }

  private static void addMetadata(Reading read, String name, String value) {
    byte[] key = name.getBytes(StandardCharsets.ISO_8859_1);
    if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
      read.metadata.add(key);
      read.metadata.add(value.getBytes(StandardCharsets.ISO_8859_1));
      return;
    }
    for (String part : value.split(",")) {
      try {
        byte[] bytes = Base64.getDecoder().decode(part.strip());
        read.metadata.add(key);
        read.metadata.add(bytes);
      } catch (IllegalArgumentException e) {
        read.wrong = "base64 in " + name + ", got something else";
      }
    }
  }

  // ---- What it says ----------------------------------------------------------------------------

  /** The method that is called; null when the call is refused. */
  ServerMethodDefinition<?, ?> method() {
    return method;
  }

  /** Why the call is refused; null when it is not. */
  Status refusal() {
    return refusal;
  }

  /** The status by HTTP of a call that is refused. */
  int httpStatus() {
    return httpStatus;
  }

  /** All that is not the protocol's own. Nobody changes it. */
  Metadata metadata() {
    return metadata;
  }

  /** How long the call may take; 0: it does not say. */
  long timeoutNs() {
    return timeoutNs;
  }

  /** Whether messages may be compressed by gzip. */
  boolean isGzip() {
    return isGzip;
  }

  /** Whether replies may be. */
  boolean acceptsGzip() {
    return acceptsGzip;
  }
}
