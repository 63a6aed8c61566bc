package io.nereid.server.http;

import io.nereid.server.trace.Trace;
import io.nereid.server.trace.Tracing;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Attributes of HTTP in traces, by OpenTelemetry's semantic conventions for servers. */
final class HttpTrace {

  private HttpTrace() {}

  /** Begins the trace of a request; null if it is not traced. */
  static Trace begin(Tracing tracing, ProtocolHead head, HttpExchange exchange) throws IOException {
    Route route = head.route();
    Trace trace =
        tracing.begin(
            Trace.Protocol.HTTP,
            route.model(),
            route.version(),
            exchange.connection().readingSinceNs(),
            head.traceparent(),
            head.tracestate());
    if (trace == null) {
      return null;
    }
    if (!trace.isWritten()) {
      return trace;
    }
    String template = route.endpoint().template(route.version() != 0);
    trace
        .name(head.method() + " " + template)
        .attribute("http.request.method", head.method())
        .attribute("http.route", template)
        .attribute("url.path", head.path())
        .attribute("url.scheme", exchange.connection().channel().isEncrypted() ? "https" : "http");
    address(trace, "client", exchange.connection().channel().socket().getRemoteAddress());
    address(trace, "server", exchange.connection().channel().socket().getLocalAddress());
    return trace;
  }

  private static void address(Trace trace, String whose, SocketAddress address) {
    if (address instanceof InetSocketAddress internet) {
      trace
          .attribute(whose + ".address", internet.getAddress().getHostAddress())
          .attribute(whose + ".port", internet.getPort());
    }
  }

  /** Notes that a reply is ready; {@code error} is the reason of a failure. */
  static void sending(Trace trace, Status status, String error) {
    if (trace == null) {
      return;
    }
    trace.attribute("http.response.status_code", status.code());
    if (status.code() >= 400) {
      boolean byServer = status.code() >= 500;
      trace.failed(error == null ? status.toString() : error, byServer);
      if (byServer) {
        trace.attribute("error.type", Integer.toString(status.code()));
      }
    }
    trace.sending();
  }
}
