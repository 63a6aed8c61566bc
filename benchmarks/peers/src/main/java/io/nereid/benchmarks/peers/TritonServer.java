package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.*;

import org.bytedeco.javacpp.Loader;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_Error;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ResponseAllocator;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_Server;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ServerOptions;

/**
 * Triton's core in this process, set up for speed: no metrics, no logs but errors, no rate limiter.
 */
final class TritonServer implements AutoCloseable {

  private static final int EXIT_TIMEOUT_S = 10;

  private final TRITONSERVER_Server server = new TRITONSERVER_Server(null);
  private TRITONSERVER_ResponseAllocator allocator; // before the first request

  TritonServer(Places places) {
    Loader.load(org.bytedeco.tritonserver.global.tritonserver.class);
    TRITONSERVER_ServerOptions options = new TRITONSERVER_ServerOptions(null);
    check(TRITONSERVER_ServerOptionsNew(options));
    check(TRITONSERVER_ServerOptionsSetServerId(options, "peer"));
    check(
        TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, places.repository().toString()));
    check(TRITONSERVER_ServerOptionsSetBackendDirectory(options, places.backends().toString()));
    check(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_NONE));
    check(TRITONSERVER_ServerOptionsSetRateLimiterMode(options, TRITONSERVER_RATE_LIMIT_OFF));
    check(TRITONSERVER_ServerOptionsSetMetrics(options, false));
    check(TRITONSERVER_ServerOptionsSetGpuMetrics(options, false));
    check(TRITONSERVER_ServerOptionsSetCpuMetrics(options, false));
    check(TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(options, 0));
    check(TRITONSERVER_ServerOptionsSetLogInfo(options, false));
    check(TRITONSERVER_ServerOptionsSetLogWarn(options, false));
    check(TRITONSERVER_ServerOptionsSetExitTimeout(options, EXIT_TIMEOUT_S));
    check(TRITONSERVER_ServerNew(server, options));
    check(TRITONSERVER_ServerOptionsDelete(options));
  }

  /** Says who makes room for outputs; the server deletes it in the end. */
  void allocateBy(TRITONSERVER_ResponseAllocator outputs) {
    allocator = outputs;
  }

  TRITONSERVER_Server server() {
    return server;
  }

  TRITONSERVER_ResponseAllocator allocator() {
    return allocator;
  }

  /** Throws what a call answered, unless that is success. */
  static void check(TRITONSERVER_Error error) {
    if (error != null && !error.isNull()) {
      String message =
          TRITONSERVER_ErrorCodeString(error) + ": " + TRITONSERVER_ErrorMessage(error);
      TRITONSERVER_ErrorDelete(error);
      throw new IllegalStateException("Triton's core says " + message);
    }
  }

  @Override
  public void close() {
    check(TRITONSERVER_ServerStop(server));
    check(TRITONSERVER_ResponseAllocatorDelete(allocator));
    check(TRITONSERVER_ServerDelete(server));
  }
}
