package io.nereid.server;

import com.sun.management.UnixOperatingSystemMXBean;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.seam.ClientConnection;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.shared.ConnectionRefusals;
import io.nereid.server.shared.HeapBudget;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;

/**
 * Lowers the limits of connections to the heap and file descriptors of the process, and logs that.
 * A connection takes a part of the heap and a file descriptor. Each frontend may use all of the
 * heap that connections may have, because {@code HeapBudget} allots it as connections come;
 * descriptors are divided here.
 */
final class ConnectionFit {

  private static final Logger LOGGER = System.getLogger(ConnectionFit.class.getName());

  /** Descriptors kept for models, shared memory, logs, and the rest of the start. */
  private static final int LEAST_OTHERS = 48;

  private static final int MOST_OTHERS = 1024;

  /** Sockets that metrics always get. */
  private static final int LEAST_METRICS = 12;

  private final long heapBytes;
  private final long descriptors;
  private int http;
  private int grpc;
  private int metrics;

  private ConnectionFit(long heapBytes, long descriptors) {
    this.heapBytes = heapBytes;
    this.descriptors = descriptors;
  }

  /** Returns the options with limits that this process has room for. */
  static ServerOptions of(ServerOptions options) {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      return of(
          options,
          HeapBudget.ofThisProcess(),
          system.getOpenFileDescriptorCount(),
          system.getMaxFileDescriptorCount());
    }
    return of(options, HeapBudget.ofThisProcess(), 0, Long.MAX_VALUE);
  }

  /** Does the same for a process with {@code open} of {@code most} descriptors open. */
  static ServerOptions of(ServerOptions options, HeapBudget heap, long open, long most) {
    long others = Math.clamp(most / 16, LEAST_OTHERS, MOST_OTHERS);
    return new ConnectionFit(heap.connectionBytes(), most - open - others).apply(options, most);
  }

  private ServerOptions apply(ServerOptions options, long mostDescriptors) {
    int wantedHttp = options.http().map(how -> how.limits().connectionCount()).orElse(0);
    int wantedGrpc = options.grpc().map(how -> how.limits().connectionCount()).orElse(0);
    http = Math.clamp(heapBytes / ClientConnection.HEAP_BYTES, 1, Math.max(1, wantedHttp));
    grpc = Math.clamp(heapBytes / GrpcLimits.CONNECTION_BYTES, 1, Math.max(1, wantedGrpc));
    int wantedMetrics = options.metrics().map(MetricsOptions::connectionCount).orElse(0);
    metrics = wantedMetrics;
    String why = "the heap (-Xmx) has no room for more";
    if (shareDescriptors(wantedHttp > 0, wantedGrpc > 0)) {
      why = "the process may open " + mostDescriptors + " files (ulimit -n)";
    }
    say("HTTP", "--http-max-connections", wantedHttp, http, why);
    say("gRPC", "--grpc-max-connections", wantedGrpc, grpc, why);
    ServerOptions fit = options;
    if (http < wantedHttp) {
      HttpOptions how = options.http().get();
      fit = fit.withHttp(how.withLimits(how.limits().withConnectionCount(http)));
    }
    if (grpc < wantedGrpc) {
      GrpcOptions how = options.grpc().get();
      fit = fit.withGrpc(how.withLimits(how.limits().withConnectionCount(grpc)));
    }
    if (metrics < wantedMetrics) {
      fit = fit.withMetrics(options.metrics().get().withConnectionCount(metrics));
    }
    return fit;
  }

  /**
   * Divides the descriptors among the frontends in proportion to their limits; false if there are
   * enough.
   */
  private boolean shareDescriptors(boolean hasHttp, boolean hasGrpc) {
    long forHttp = hasHttp ? sockets(http) : 0;
    long forGrpc = hasGrpc ? sockets(grpc) : 0;
    long forMetrics = metrics > 0 ? sockets(metrics) : 0;
    if (forHttp + forGrpc + forMetrics <= descriptors) {
      return false;
    }
    forMetrics = Math.min(forMetrics, Math.max(LEAST_METRICS, descriptors / 16));
    double part = Math.max(0, descriptors - forMetrics) / (double) (forHttp + forGrpc);
    http = connections(forHttp * part);
    grpc = connections(forGrpc * part);
    metrics = connections(forMetrics);
    return true;
  }

  /** The sockets for so many connections and for those that are refused with a reply. */
  private static long sockets(int connections) {
    return (long) connections + ConnectionRefusals.of(connections);
  }

  private static int connections(double sockets) {
    int most = (int) sockets;
    return Math.max(1, most - ConnectionRefusals.of(most));
  }

  private static void say(String protocol, String flag, int wanted, int got, String why) {
    if (got < wanted) {
      LOGGER.log(
          Level.INFO,
          "%s takes %s connections at a time, not the %s of %s: %s"
              .formatted(protocol, got, wanted, flag, why));
    }
  }
}
