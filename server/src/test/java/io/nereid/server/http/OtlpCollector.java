package io.nereid.server.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nereid.server.trace.OtlpOptions;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceMode;
import io.nereid.server.trace.TraceOptions;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** Takes traces by OTLP over HTTP, and keeps them. */
public final class OtlpCollector implements AutoCloseable {

  private final HttpServer server;
  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Integer> refusals = new ConcurrentLinkedQueue<>();
  private volatile Resource resource;

  /** Listens on a port of its own. */
  public OtlpCollector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  private void take(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    Integer refusal = refusals.poll();
    boolean protobuf =
        "application/x-protobuf".equals(exchange.getRequestHeaders().getFirst("Content-Type"));
    if (refusal == null && protobuf) {
      for (ResourceSpans part : ExportTraceServiceRequest.parseFrom(body).getResourceSpansList()) {
        resource = part.getResource();
        for (ScopeSpans scope : part.getScopeSpansList()) {
          spans.addAll(scope.getSpansList());
        }
      }
    }
    exchange.sendResponseHeaders(refusal != null ? refusal : protobuf ? 200 : 415, -1);
    exchange.close();
  }

  /** Answers the next request with this status, and keeps nothing of it. */
  void refuse(int status) {
    refusals.add(status);
  }

  /** Traces of all requests, which are sent here at once. */
  TraceOptions options() {
    return options(Duration.ofMillis(1));
  }

  /** Traces of all requests, which are sent here so much later, or when the server stops. */
  public TraceOptions options(Duration delay) {
    return options(
        URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces"), delay, 512);
  }

  static TraceOptions options(URI url, Duration delay, int queueSize) {
    return TraceOptions.OFF
        .withRate(1)
        .withMode(TraceMode.OPENTELEMETRY)
        .withOtlp(
            new OtlpOptions(
                url, Map.of("service.name", "tested"), queueSize, delay, Math.min(64, queueSize)))
        .withLevels(TraceLevel.TIMESTAMPS);
  }

  Resource resource() {
    return resource;
  }

  /** What came until now. */
  public List<Span> spans() {
    return List.copyOf(spans);
  }

  List<Span> awaitSpans(int count) {
    TestServer.await(() -> spans.size() >= count, "there are not " + count + " spans");
    return spans();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
