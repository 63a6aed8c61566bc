package io.nereid.server;

import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.grpc.GrpcServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Opens the gRPC frontend while the models load: its classes and native library take as long as a
 * small model. Closing it closes the frontend, unless that was kept.
 */
final class GrpcOpening implements AutoCloseable {

  /** Empty: gRPC is not served. */
  private final Optional<CompletableFuture<GrpcServer>> opening;

  private volatile Duration time = Duration.ZERO;
  private boolean kept;

  GrpcOpening(Optional<GrpcOptions> options) {
    opening = options.map(this::start);
  }

  private CompletableFuture<GrpcServer> start(GrpcOptions options) {
    long startNs = System.nanoTime();
    return CompletableFuture.supplyAsync(
        () -> {
          GrpcServer server = GrpcServer.open(options);
          time = Duration.ofNanos(System.nanoTime() - startNs);
          return server;
        },
        work -> Thread.ofPlatform().daemon().name("nrd-grpc-open").start(work));
  }

  /** Waits until it listens; throws why it does not. */
  Optional<GrpcServer> await() {
    try {
      return opening.map(CompletableFuture::join);
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** How long it took. */
  Duration time() {
    return time;
  }

  /** It goes on. */
  void keep() {
    kept = true;
  }

  @Override
  public void close() {
    if (!kept) {
      opening.ifPresent(open -> open.thenAccept(GrpcServer::close));
    }
  }
}
