package io.nereid.perf;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import java.io.IOException;
import java.security.GeneralSecurityException;

/** How connections of gRPC are made. */
final class GrpcChannels {

  static final String SERVICE = "inference.GRPCInferenceService";

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  private GrpcChannels() {}

  /** Nothing that a channel runs takes long, so none of it needs an executor. */
  static NettyChannelBuilder builder(Target target) {
    return NettyChannelBuilder.forAddress(target.host(), target.port(), credentials(target))
        .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .directExecutor();
  }

  private static ChannelCredentials credentials(Target target) {
    if (target.tls().isEmpty()) {
      return InsecureChannelCredentials.create();
    }
    TlsFiles files = target.tls().get();
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    try {
      if (files.trusted().isPresent()) {
        builder.trustManager(files.trustManagers());
      }
      if (files.certificate().isPresent()) {
        builder.keyManager(files.keyManagers());
      }
    } catch (GeneralSecurityException | IOException e) {
      throw new PerfException("TLS cannot be set up: " + e.getMessage(), e);
    }
    return builder.build();
  }

  static Metadata headers(Target target) {
    Metadata headers = new Metadata();
    target
        .headers()
        .forEach((name, value) ->
            headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
    return headers;
  }
}
