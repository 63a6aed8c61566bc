package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags for access of clients. Tokens are opened once, for all frontends. */
final class AccessArguments extends Arguments {

  private static final String FORM = "GROUP[,GROUP...]:FIELD=VALUE";

  @Option(
      names = "--http-restricted-api",
      paramLabel = FORM,
      description =
          "Endpoints that want a header field over HTTP; repeatable. Groups: health, metadata,"
              + " inference, shared-memory, model-config, model-repository, statistics, trace,"
              + " logging.")
  private List<String> httpRestricted = List.of();

  @Option(
      names = "--grpc-restricted-protocol",
      paramLabel = FORM,
      description = "The same over gRPC, with triton-grpc-protocol- in front of FIELD.")
  private List<String> grpcRestricted = List.of();

  @Option(
      names = "--auth-token-file",
      paramLabel = "FILE",
      description =
          "Tokens that clients need for everything but health: TOKEN [GROUP,GROUP...] a line."
              + " Read again when it changes.")
  private Path tokenFile;

  @Option(
      names = "--allow-client-shm",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Let clients register shared memory: any that this server's user may open;"
              + " ${DEFAULT-VALUE} by default.")
  private boolean allowClientShm;

  private Optional<Tokens> tokens; // opened once, for all frontends

  AccessControl http() {
    return AccessControl.of(
        parse("--http-restricted-api", httpRestricted, Restrictions::forHttp), tokens());
  }

  AccessControl grpc() {
    return AccessControl.of(
        parse("--grpc-restricted-protocol", grpcRestricted, Restrictions::forGrpc), tokens());
  }

  boolean allowClientShm() {
    return allowClientShm;
  }

  private Optional<Tokens> tokens() {
    if (tokens == null) {
      tokens = Optional.ofNullable(tokenFile).map(Tokens::open);
    }
    return tokens;
  }

  private Restrictions parse(
      String flag, List<String> texts, Function<List<String>, Restrictions> parser) {
    try {
      return parser.apply(texts);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command().commandLine(), flag + ": " + e.getMessage());
    }
  }
}
