package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.nereid.server.trace.Trace;
import io.nereid.server.trace.Tracing;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** What traces say of gRPC, by OpenTelemetry's semantic conventions for servers. */
final class CallTrace {

  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

  private static final Metadata.Key<String> TRACESTATE =
      Metadata.Key.of("tracestate", Metadata.ASCII_STRING_MARSHALLER);

  private CallTrace() {}

  /** Null when the request is not traced. */
  static Trace begin(
      Tracing tracing,
      ServerCall<?, ?> call,
      Metadata headers,
      IncomingRequest incoming,
      long startNs) {
    Trace trace =
        tracing.begin(
            Trace.Protocol.GRPC,
            incoming.modelName(),
            incoming.namedVersion(),
            startNs,
            headers.get(TRACEPARENT),
            headers.get(TRACESTATE));
    if (trace == null) {
      return null;
    }
    trace
        .name(call.getMethodDescriptor().getFullMethodName())
        .attribute("rpc.system", "grpc")
        .attribute("rpc.service", call.getMethodDescriptor().getServiceName())
        .attribute("rpc.method", call.getMethodDescriptor().getBareMethodName());
    Attributes transport = call.getAttributes();
    address(trace, "client", transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    address(trace, "server", transport.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR));
    return trace;
  }

  private static void address(Trace trace, String whose, SocketAddress address) {
    if (address instanceof InetSocketAddress internet) {
      trace
          .attribute(whose + ".address", internet.getAddress().getHostAddress())
          .attribute(whose + ".port", internet.getPort());
    }
  }

  /** The call ends with this status, and before that its reply is written. */
  static void sending(Trace trace, Status status) {
    if (trace != null) {
      ended(trace, status);
      trace.sending();
    }
  }

  /** The request has ended in this way. */
  static void ended(Trace trace, Status status) {
    trace.attribute("rpc.grpc.status_code", status.getCode().value());
    if (!status.isOk()) {
      boolean byServer =
          switch (status.getCode()) {
            case UNKNOWN, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, DEADLINE_EXCEEDED ->
                true;
            default -> false;
          };
      trace.failed(String.valueOf(status.getDescription()), byServer);
    }
  }
}
