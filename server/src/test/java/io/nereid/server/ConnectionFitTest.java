package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.seam.ClientConnection;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.shared.HeapBudget;
import org.junit.jupiter.api.Test;

/** Limits of connections, held against what a process has. */
class ConnectionFitTest {

  private static final HeapBudget LARGE = new HeapBudget(4L << 30);

  private static final ServerOptions ALL =
      ServerOptions.DEFAULT.withGrpc(GrpcOptions.DEFAULT).withMetrics(MetricsOptions.DEFAULT);

  private static int http(ServerOptions options) {
    return options.http().orElseThrow().limits().connectionCount();
  }

  private static int grpc(ServerOptions options) {
    return options.grpc().orElseThrow().limits().connectionCount();
  }

  private static int metrics(ServerOptions options) {
    return options.metrics().orElseThrow().connectionCount();
  }

  @Test
  void fittingValuesStay() {
    assertEquals(ALL, ConnectionFit.of(ALL, LARGE, 100, 1 << 20));
  }

  @Test
  void descriptorsAreShared() {
    ServerOptions fit = ConnectionFit.of(ALL, LARGE, 50, 200);
    assertEquals(http(fit), grpc(fit));
    assertTrue(http(fit) > 15 && metrics(fit) > 2, fit.toString());
    assertTrue(http(fit) + grpc(fit) + metrics(fit) < 150 - 40, fit.toString());
  }

  @Test
  void thereIsAlwaysOne() {
    ServerOptions fit = ConnectionFit.of(ALL, new HeapBudget(1000), 50, 60);
    assertEquals(1, http(fit));
    assertEquals(1, grpc(fit));
    assertTrue(metrics(fit) >= 1, fit.toString());
  }

  @Test
  void noMoreThanTheHeapHasRoomFor() {
    HeapBudget heap = new HeapBudget(256 << 20);
    ServerOptions fit = ConnectionFit.of(ALL, heap, 100, 1 << 20);
    assertEquals(heap.connectionBytes() / ClientConnection.HEAP_BYTES, http(fit));
    assertEquals(10_000, grpc(fit));
    assertEquals(64, metrics(fit));
  }
}
