package io.nereid.server;

import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.grpc.GrpcServer;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Opens the gRPC frontend on a thread of its own while the models load, because its classes and its
 * native library take as long to load as a model.
 */
final class GrpcStart {

  /** The frontend being opened; empty: gRPC is not served. */
  private final Optional<CompletableFuture<GrpcServer>> opening;

  GrpcStart(ServerState state, Optional<GrpcOptions> options) {
    opening = options.map(how -> open(state, how));
  }

  private static CompletableFuture<GrpcServer> open(ServerState state, GrpcOptions how) {
    try {
      GrpcServer.checkAddress(how);
    } catch (NereidException e) {
      return CompletableFuture.failedFuture(e);
    }
    return CompletableFuture.supplyAsync(
        () -> GrpcServer.start(state, how),
        work -> Thread.ofPlatform().daemon().name("nrd-grpc-start").start(work));
  }

  /** Throws if it is known by now that the frontend cannot listen, as when its port is taken. */
  void check() {
    if (opening.filter(CompletableFuture::isCompletedExceptionally).isPresent()) {
      await();
    }
  }

  /** Waits until the frontend listens; throws if it cannot. */
  void await() {
    try {
      opening.ifPresent(CompletableFuture::join);
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Waits for the frontend; empty if it could not be opened. */
  Optional<GrpcServer> server() {
    return opening.map(open -> open.exceptionally(failure -> null).join());
  }
}
