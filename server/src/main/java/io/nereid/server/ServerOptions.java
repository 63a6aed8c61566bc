package io.nereid.server;

import io.nereid.NereidOptions;
import io.nereid.RepositoryOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import java.util.Objects;
import java.util.Optional;

/**
 * What a server serves, and where. Build one with {@link #builder()}.
 *
 * @param repository which models are loaded
 * @param runtime settings of the runtime
 * @param http where HTTP is served, and how
 * @param grpc where gRPC is served, and how; empty: it is not
 * @param exitOnError whether a model that cannot be loaded at the start ends the server
 * @param strictReadiness whether such a model makes it not ready
 */
public record ServerOptions(
    RepositoryOptions repository,
    NereidOptions runtime,
    HttpOptions http,
    Optional<GrpcOptions> grpc,
    boolean exitOnError,
    boolean strictReadiness) {

  /** Checks the values. */
  public ServerOptions {
    Objects.requireNonNull(repository);
    Objects.requireNonNull(runtime);
    Objects.requireNonNull(http);
    Objects.requireNonNull(grpc);
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link ServerOptions}. */
  public static final class Builder {
    private RepositoryOptions repository = RepositoryOptions.builder().explicit().build();
    private NereidOptions runtime = NereidOptions.DEFAULT;
    private HttpOptions http = HttpOptions.builder().build();
    private Optional<GrpcOptions> grpc = Optional.empty();
    private boolean exitOnError = true;
    private boolean strictReadiness = true;

    private Builder() {}

    /** Which models are loaded; none by default. */
    public Builder repository(RepositoryOptions options) {
      repository = options;
      return this;
    }

    /** Settings of the runtime. */
    public Builder runtime(NereidOptions options) {
      runtime = options;
      return this;
    }

    /** Where HTTP is served, and how; at a free port of the loopback address by default. */
    public Builder http(HttpOptions options) {
      http = options;
      return this;
    }

    /** Where gRPC is served, and how; nowhere by default. */
    public Builder grpc(Optional<GrpcOptions> options) {
      grpc = options;
      return this;
    }

    /** Whether a model that cannot be loaded at the start ends the server; by default it does. */
    public Builder exitOnError(boolean ends) {
      exitOnError = ends;
      return this;
    }

    /** Whether such a model makes the server not ready; by default it does. */
    public Builder strictReadiness(boolean strict) {
      strictReadiness = strict;
      return this;
    }

    /** The finished value. */
    public ServerOptions build() {
      return new ServerOptions(repository, runtime, http, grpc, exitOnError, strictReadiness);
    }
  }
}
