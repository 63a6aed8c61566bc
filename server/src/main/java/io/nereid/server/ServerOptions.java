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
 * @param http where HTTP is served, and how; empty: it is not
 * @param grpc where gRPC is served, and how; empty: it is not
 * @param exitOnError whether a model that cannot be loaded at the start ends the server
 * @param strictReadiness whether such a model makes it not ready
 * @param allowClientShm whether clients may register shared memory
 */
public record ServerOptions(
    RepositoryOptions repository,
    NereidOptions runtime,
    Optional<HttpOptions> http,
    Optional<GrpcOptions> grpc,
    boolean exitOnError,
    boolean strictReadiness,
    boolean allowClientShm) {

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
    private Optional<HttpOptions> http = Optional.of(HttpOptions.builder().build());
    private Optional<GrpcOptions> grpc = Optional.empty();
    private boolean exitOnError = true;
    private boolean strictReadiness = true;
    private boolean allowClientShm;

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
      return http(Optional.of(options));
    }

    /** As {@link #http(HttpOptions)}; empty for a server without HTTP. */
    public Builder http(Optional<HttpOptions> options) {
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

    /** Whether clients may register shared memory; by default they may not. */
    public Builder allowClientShm(boolean allowed) {
      allowClientShm = allowed;
      return this;
    }

    /** The finished value. */
    public ServerOptions build() {
      return new ServerOptions(
          repository, runtime, http, grpc, exitOnError, strictReadiness, allowClientShm);
    }
  }
}
