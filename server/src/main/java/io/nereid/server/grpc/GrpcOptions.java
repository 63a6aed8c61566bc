package io.nereid.server.grpc;

import io.nereid.server.access.AccessControl;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.tls.ServerTlsOptions;
import java.net.InetAddress;
import java.util.Objects;
import java.util.Optional;

/**
 * Says where gRPC is served, and how. Make others from {@link #DEFAULT}.
 *
 * @param address where the frontend listens
 * @param port its port; 0 takes one that is free
 * @param limits what clients may ask of it
 * @param keepAlive how long connections live
 * @param compression how replies of the inference service are compressed
 * @param access which calls may be made
 * @param forwarding the metadata fields that become parameters; empty: none
 * @param tls the certificates for encryption; empty: none
 */
public record GrpcOptions(
    InetAddress address,
    int port,
    GrpcLimits limits,
    GrpcKeepAlive keepAlive,
    GrpcCompression compression,
    AccessControl access,
    Optional<HeaderForwarding> forwarding,
    Optional<ServerTlsOptions> tls) {

  /** Options for a free port of the loopback address, open to all. */
  public static final GrpcOptions DEFAULT =
      new GrpcOptions(
          InetAddress.getLoopbackAddress(),
          0,
          GrpcLimits.DEFAULT,
          GrpcKeepAlive.DEFAULT,
          GrpcCompression.NONE,
          AccessControl.OPEN,
          Optional.empty(),
          Optional.empty());

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

  /** Returns a copy that listens at another address. */
  public GrpcOptions withAddress(InetAddress listening) {
    return RecordCopy.with(this, "address", listening);
  }

  /** Returns a copy that listens at another port; 0 takes one that is free. */
  public GrpcOptions withPort(int number) {
    return RecordCopy.with(this, "port", number);
  }

  /** Returns a copy with other limits. */
  public GrpcOptions withLimits(GrpcLimits others) {
    // Without reflection: a start that may open few files makes this copy.
    return new GrpcOptions(address, port, others, keepAlive, compression, access, forwarding, tls);
  }

  /** Returns a copy with another keep-alive. */
  public GrpcOptions withKeepAlive(GrpcKeepAlive times) {
    return RecordCopy.with(this, "keepAlive", times);
  }

  /** Returns a copy with another compression of replies. */
  public GrpcOptions withCompression(GrpcCompression much) {
    return RecordCopy.with(this, "compression", much);
  }

  /** Returns a copy with another access control. */
  public GrpcOptions withAccess(AccessControl control) {
    return RecordCopy.with(this, "access", control);
  }

  /** Returns a copy that turns these metadata fields into parameters. */
  public GrpcOptions withForwarding(HeaderForwarding fields) {
    return RecordCopy.with(this, "forwarding", Optional.of(fields));
  }

  /** Returns a copy whose connections are encrypted. */
  public GrpcOptions withTls(ServerTlsOptions files) {
    return RecordCopy.with(this, "tls", Optional.of(files));
  }
}
