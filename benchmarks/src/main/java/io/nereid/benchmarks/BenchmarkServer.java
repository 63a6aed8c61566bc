package io.nereid.benchmarks;

import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;

/** A server at free ports of the loopback address, with the identity model. */
public final class BenchmarkServer implements AutoCloseable {

  private final NereidServer server;

  /** Starts it. */
  public BenchmarkServer() {
    server = NereidServer.start(ServerOptions.DEFAULT.withGrpc(GrpcOptions.DEFAULT));
    server.nereid().load(BenchmarkModels.anyIdentity());
  }

  /** Returns the port of HTTP. */
  public int httpPort() {
    return server.httpPort();
  }

  /** Returns the port of gRPC. */
  public int grpcPort() {
    return server.grpcPort().orElseThrow();
  }

  @Override
  public void close() {
    server.close();
  }
}
