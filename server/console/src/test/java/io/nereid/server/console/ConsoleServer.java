package io.nereid.server.console;

import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.RecordingOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A whole server with a console, whose models can be loaded and unloaded. */
final class ConsoleServer implements AutoCloseable {

  private static final Duration EXIT = Duration.ofSeconds(10);

  private final NereidServer server;

  /**
   * Loads all models.
   *
   * @param tokens the file of tokens, or null where everybody may do everything
   */
  ConsoleServer(Path repository, Path tokens) {
    this(repository, tokens, ServerOptions.DEFAULT);
  }

  /** Loads all models, and records requests into a directory when it is told to. */
  static ConsoleServer recording(Path repository, Path directory) {
    ServerOptions options =
        ServerOptions.DEFAULT.withRecording(RecordingOptions.to(directory)).withRecordAtOnce(false);
    return new ConsoleServer(repository, null, options);
  }

  private ConsoleServer(Path repository, Path tokens, ServerOptions options) {
    RepositoryOptions models =
        RepositoryOptions.builder()
            .repository(repository)
            .explicit("*")
            .objective("simple", Objective.p99(Duration.ofSeconds(30)))
            .build();
    HttpOptions http = HttpOptions.DEFAULT.withPort(0).withExitTimeout(EXIT);
    if (tokens != null) {
      http = http.withAccess(AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(tokens))));
    }
    server =
        NereidServer.start(
            options
                .withRepository(models)
                .withHttp(http.withConsole(ConsoleOptions.DEFAULT))
                .withGrpc(GrpcOptions.DEFAULT.withPort(0))
                .withExitOnError(false)
                .withExitTimeout(EXIT));
  }

  /** The address of a page; the fragment begins with {@code #}, or is empty. */
  String page(String fragment) {
    return "http://127.0.0.1:" + server.httpPort() + "/" + fragment;
  }

  @Override
  public void close() {
    server.close();
  }
}
