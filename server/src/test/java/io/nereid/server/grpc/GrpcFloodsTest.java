package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.FrameFlood;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import java.net.SocketException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients of gRPC that send frame after frame for nothing. */
class GrpcFloodsTest {

  /** gRPC's own limit, with the default of how often a client may ping: two too many. */
  private static final int MOST_PINGS = 3;

  @ParameterizedTest
  @EnumSource
  void aFloodEndsItsConnection(FrameFlood flood) throws Exception {
    int most =
        switch (flood) {
          case PINGS -> MOST_PINGS;
          case ZERO_WINDOW_UPDATES -> GrpcServer.MAX_FORCED_RESETS;
          default -> flood.most();
        };
    try (GrpcFixture server = new GrpcFixture(RepositoryOptions.builder().explicit().build());
        FrameClient other = new FrameClient(server.server().port()).begin();
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      flood.sendAll(client, 0, most, GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
      GrpcFrames.call(other, 1, "ServerLive", new byte[0]).expect(200);
      InferFixture.await(
          () -> server.server().connectionCount() == 1, "the connection is still open");
    }
  }

  @Test
  void callsThatEndWithTheirHeadsAreAFlood() throws Exception {
    try (GrpcFixture server = new GrpcFixture(RepositoryOptions.builder().explicit().build());
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      try {
        for (int i = 0; i < 2 * FrameCount.MAX_FRAMES; i++) {
          client.head(2 * i + 1, true, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
        }
      } catch (SocketException e) {
        return; // it was cut off while it sent
      }
      assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
    }
  }

  @Test
  void aFloodWithinTlsEndsItsConnection(@TempDir Path directory) throws Exception {
    Identity authority = TestCertificates.authority("ca");
    ServerTlsOptions tls = TestCertificates.server(authority, directory);
    SSLContext trusting = TestCertificates.client(authority, null);
    try (GrpcFixture server =
            new GrpcFixture(
                RepositoryOptions.builder().explicit().build(), GrpcOptions.DEFAULT.withTls(tls));
        SSLSocket socket =
            (SSLSocket)
                trusting.getSocketFactory().createSocket("localhost", server.server().port())) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      try (FrameClient client = new FrameClient(socket).begin()) {
        FrameFlood flood = FrameFlood.EMPTY_DATA;
        flood.sendAll(client, 0, flood.most(), GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
        assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
      }
    }
  }
}
