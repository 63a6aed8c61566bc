package io.nereid.server.grpc;

import io.nereid.server.access.AccessControl;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.tls.TlsOptions;
import java.net.InetAddress;
import java.util.Objects;
import java.util.Optional;

/**
 * Where gRPC is served, and how. Build one with {@link #builder()}.
 *
 * @param address where the frontend listens
 * @param port its port; 0 takes one that is free
 * @param limits what clients may ask of it
 * @param keepAlive how long connections live
 * @param compression how replies of the inference service are compressed
 * @param access which calls may be made
 * @param forwarding which metadata becomes parameters; empty: none
 * @param tls how connections are encrypted; empty: they are not
 */
public record GrpcOptions(
    InetAddress address,
    int port,
    GrpcLimits limits,
    GrpcKeepAlive keepAlive,
    GrpcCompression compression,
    AccessControl access,
    Optional<HeaderForwarding> forwarding,
    Optional<TlsOptions> tls) {

  /** Checks the values. */
  public GrpcOptions {
    Objects.requireNonNull(address);
    Objects.requireNonNull(limits);
    Objects.requireNonNull(keepAlive);
    Objects.requireNonNull(compression);
    Objects.requireNonNull(access);
    Objects.requireNonNull(forwarding);
    Objects.requireNonNull(tls);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535, got " + port);
    }
  }

  /** The same with other limits. */
  public GrpcOptions withLimits(GrpcLimits others) {
    return new GrpcOptions(address, port, others, keepAlive, compression, access, forwarding, tls);
  }

  /** A builder with the defaults: a free port of the loopback address. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link GrpcOptions}. */
  public static final class Builder {
    private InetAddress address = InetAddress.getLoopbackAddress();
    private int port;
    private GrpcLimits limits = GrpcLimits.DEFAULT;
    private GrpcKeepAlive keepAlive = GrpcKeepAlive.DEFAULT;
    private GrpcCompression compression = GrpcCompression.NONE;
    private AccessControl access = AccessControl.OPEN;
    private Optional<HeaderForwarding> forwarding = Optional.empty();
    private Optional<TlsOptions> tls = Optional.empty();

    private Builder() {}

    /** Where the frontend listens. */
    public Builder address(InetAddress listening) {
      address = listening;
      return this;
    }

    /** Its port; 0 takes one that is free. */
    public Builder port(int number) {
      port = number;
      return this;
    }

    /** What clients may ask of it. */
    public Builder limits(GrpcLimits most) {
      limits = most;
      return this;
    }

    /** How long connections live. */
    public Builder keepAlive(GrpcKeepAlive times) {
      keepAlive = times;
      return this;
    }

    /** How replies of the inference service are compressed; not at all by default. */
    public Builder compression(GrpcCompression much) {
      compression = much;
      return this;
    }

    /** Which calls may be made; all by default. */
    public Builder access(AccessControl control) {
      access = control;
      return this;
    }

    /** Which metadata becomes parameters; none by default. */
    public Builder forwarding(HeaderForwarding fields) {
      forwarding = Optional.of(fields);
      return this;
    }

    /** How connections are encrypted; by default they are not. */
    public Builder tls(TlsOptions files) {
      tls = Optional.of(files);
      return this;
    }

    /** The finished value. */
    public GrpcOptions build() {
      return new GrpcOptions(
          address, port, limits, keepAlive, compression, access, forwarding, tls);
    }
  }
}
