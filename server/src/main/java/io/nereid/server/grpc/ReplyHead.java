package io.nereid.server.grpc;

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** The fields of replies, names and values in turns, by gRPC's rules for HTTP/2. */
final class ReplyHead {

  private static final List<String> PLAIN =
      List.of("content-type", "application/grpc", "grpc-accept-encoding", GrpcCompression.GZIP);

  private static final List<String> GZIP =
      List.of(
          "content-type",
          "application/grpc",
          "grpc-encoding",
          GrpcCompression.GZIP,
          "grpc-accept-encoding",
          GrpcCompression.GZIP);

  private static final List<String> OK = List.of("grpc-status", "0");

  private static final byte[] BINARY =
      Metadata.BINARY_HEADER_SUFFIX.getBytes(StandardCharsets.US_ASCII);

  private static final String HEX = "0123456789ABCDEF";

  private ReplyHead() {}

  /** What stands before messages. */
  static List<String> of(Metadata metadata, boolean isGzip) {
    List<String> usual = isGzip ? GZIP : PLAIN;
    return InternalMetadata.headerCount(metadata) == 0 ? usual : with(usual, metadata);
  }

  /** What stands behind them. */
  static List<String> trailers(Status status, Metadata metadata) {
    boolean isUsual = InternalMetadata.headerCount(metadata) == 0;
    if (isUsual && status.isOk() && status.getDescription() == null) {
      return OK;
    }
    List<String> fields = new ArrayList<>();
    fields.add("grpc-status");
    fields.add(Integer.toString(status.getCode().value()));
    if (status.getDescription() != null) {
      fields.add("grpc-message");
      fields.add(percentEncoded(status.getDescription()));
    }
    return isUsual ? fields : with(fields, metadata);
  }

  /** What stands in place of them all. */
  static List<String> trailersOnly(Status status, Metadata metadata) {
    List<String> fields = new ArrayList<>();
    fields.add("content-type");
    fields.add("application/grpc");
    fields.addAll(trailers(status, metadata));
    return fields;
  }

  private static List<String> with(List<String> usual, Metadata metadata) {
    List<String> fields = new ArrayList<>(usual);
    byte[][] added = InternalMetadata.serialize(metadata);
    for (int i = 0; i < added.length; i += 2) {
      fields.add(new String(added[i], StandardCharsets.US_ASCII));
      fields.add(
          isBinary(added[i])
              ? Base64.getEncoder().withoutPadding().encodeToString(added[i + 1])
              : new String(added[i + 1], StandardCharsets.ISO_8859_1));
    }
    return fields;
  }

  private static boolean isBinary(byte[] name) {
    int from = name.length - BINARY.length;
    return from >= 0 && Arrays.equals(name, from, name.length, BINARY, 0, BINARY.length);
  }

  /** Text as gRPC has it in a field: UTF-8, of which only what is printable stands for itself. */
  private static String percentEncoded(String text) {
    StringBuilder encoded = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b >= ' ' && b <= '~' && b != '%') {
        encoded.append((char) b);
      } else {
        encoded.append('%').append(HEX.charAt(b >> 4 & 15)).append(HEX.charAt(b & 15));
      }
    }
    return encoded.toString();
  }
}
