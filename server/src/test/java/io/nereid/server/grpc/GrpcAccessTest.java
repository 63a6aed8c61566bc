package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Descriptors.MethodDescriptor;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.GrpcService;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Access to calls: restricted groups, tokens, encrypted connections. */
class GrpcAccessTest {

  @TempDir Path directory;

  private static GrpcFixture server(GrpcOptions options) {
    return new GrpcFixture(RepositoryOptions.builder().explicit().build(), options);
  }

  private static CallOptions patience() {
    return CallOptions.DEFAULT.withDeadlineAfter(
        GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static Channel with(ManagedChannel channel, Map<String, String> fields) {
    Metadata headers = new Metadata();
    fields.forEach((name, value) ->
        headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static Channel withAll(ManagedChannel channel, String name, String... values) {
    Metadata headers = new Metadata();
    for (String value : values) {
      headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    }
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static void live(Channel channel) {
    ClientCalls.blockingUnaryCall(
        channel,
        GrpcFixture.method(
            "ServerLive",
            ServerLiveRequest.getDefaultInstance(),
            ServerLiveResponse.getDefaultInstance()),
        patience(),
        ServerLiveRequest.getDefaultInstance());
  }

  private static void metadata(Channel channel) {
    ClientCalls.blockingUnaryCall(
        channel,
        GrpcFixture.method(
            "ServerMetadata",
            ServerMetadataRequest.getDefaultInstance(),
            ServerMetadataResponse.getDefaultInstance()),
        patience(),
        ServerMetadataRequest.getDefaultInstance());
  }

  private static void index(Channel channel) {
    ClientCalls.blockingUnaryCall(
        channel,
        GrpcFixture.method(
            "RepositoryIndex",
            RepositoryIndexRequest.getDefaultInstance(),
            RepositoryIndexResponse.getDefaultInstance()),
        patience(),
        RepositoryIndexRequest.getDefaultInstance());
  }

  /** A call. */
  private interface Call {
    void on(Channel channel);
  }

  private static Status failure(Call call, Channel channel) {
    return assertThrows(StatusRuntimeException.class, () -> call.on(channel)).getStatus();
  }

  @Test
  void everyMethodIsInAGroup() {
    for (MethodDescriptor method :
        GrpcService.getDescriptor().findServiceByName("GRPCInferenceService").getMethods()) {
      io.grpc.MethodDescriptor<ServerLiveRequest, ServerLiveResponse> descriptor =
          GrpcFixture.method(
              InferenceService.NAME + "/" + method.getName(),
              MethodType.UNARY,
              ServerLiveRequest.getDefaultInstance(),
              ServerLiveResponse.getDefaultInstance());
      assertNotNull(MethodGroups.of(descriptor), method.getName());
    }
  }

  @Test
  void restrictedGroupsWantTheirHeader() {
    AccessControl access =
        AccessControl.of(
            Restrictions.forGrpc(List.of("model-repository,health:admin-key=secret")),
            Optional.empty());
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withAccess(access))) {
      metadata(server.channel());
      for (Call call : List.<Call>of(GrpcAccessTest::index, GrpcAccessTest::live)) {
        for (Map<String, String> fields :
            List.of(
                Map.<String, String>of(),
                Map.of("admin-key", "secret"),
                Map.of("triton-grpc-protocol-admin-key", "other"))) {
          Status refused = failure(call, with(server.channel(), fields));
          assertEquals(Status.Code.UNAVAILABLE, refused.getCode());
          assertEquals(
              "This protocol is restricted, expecting header 'triton-grpc-protocol-admin-key'",
              refused.getDescription());
        }
        call.on(with(server.channel(), Map.of("triton-grpc-protocol-admin-key", "secret")));
      }
    }
  }

  @Test
  void tokensAreWantedForAllButHealth() throws Exception {
    Path file =
        Files.writeString(directory.resolve("tokens"), "all-of-it\nonly-metadata metadata\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withAccess(access))) {
      live(server.channel());
      assertEquals(
          Status.Code.UNAUTHENTICATED,
          failure(GrpcAccessTest::metadata, server.channel()).getCode());
      Channel unknown = with(server.channel(), Map.of("authorization", "Bearer nothing"));
      assertEquals(
          Status.Code.UNAUTHENTICATED, failure(GrpcAccessTest::metadata, unknown).getCode());
      Channel some = with(server.channel(), Map.of("authorization", "Bearer only-metadata"));
      metadata(some);
      assertEquals(Status.Code.PERMISSION_DENIED, failure(GrpcAccessTest::index, some).getCode());
      Channel all = with(server.channel(), Map.of("authorization", "Bearer all-of-it"));
      metadata(all);
      index(all);
    }
  }

  @Test
  void severalValuesOfOneFieldAreRefused() throws Exception {
    Path file = Files.writeString(directory.resolve("tokens"), "known\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withAccess(access))) {
      ManagedChannel channel = server.channel();
      String known = "Bearer known";
      metadata(withAll(channel, "authorization", known));
      for (String[] values :
          new String[][] {{known, "Bearer x"}, {"Bearer x", known}, {known, known}}) {
        Channel several = withAll(channel, "authorization", values);
        assertEquals(
            Status.Code.UNAUTHENTICATED, failure(GrpcAccessTest::metadata, several).getCode());
      }
    }
    AccessControl restricted =
        AccessControl.of(
            Restrictions.forGrpc(List.of("model-repository:key=secret")), Optional.empty());
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withAccess(restricted))) {
      String field = "triton-grpc-protocol-key";
      index(withAll(server.channel(), field, "secret"));
      Channel several = withAll(server.channel(), field, "other", "secret");
      assertEquals(Status.Code.UNAVAILABLE, failure(GrpcAccessTest::index, several).getCode());
    }
  }

  /** A client that trusts an authority, and may have a certificate of its own. */
  private ManagedChannel encrypted(GrpcFixture server, Path authority, Optional<Identity> own)
      throws Exception {
    TlsChannelCredentials.Builder credentials =
        TlsChannelCredentials.newBuilder().trustManager(authority.toFile());
    if (own.isPresent()) {
      credentials.keyManager(
          own.get().writeCertificate(directory.resolve("client.pem")).toFile(),
          own.get().writeKey(directory.resolve("client.key")).toFile());
    }
    return NettyChannelBuilder.forAddress("localhost", server.server().port(), credentials.build())
        .build();
  }

  @Test
  void encryptedConnections() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Path ca = authority.writeCertificate(directory.resolve("ca.pem"));
    ServerTlsOptions tls = TestCertificates.server(authority, directory);
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withTls(tls))) {
      assertEquals(
          Status.Code.UNAVAILABLE, failure(GrpcAccessTest::live, server.channel()).getCode());
      ManagedChannel channel = encrypted(server, ca, Optional.empty());
      live(channel);
      channel.shutdownNow();
    }
  }

  @Test
  void clientsThatNeedACertificate() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Identity own = TestCertificates.signed("server", authority);
    Path ca = authority.writeCertificate(directory.resolve("ca.pem"));
    ServerTlsOptions tls =
        ServerTlsOptions.of(
            own.writeCertificate(directory.resolve("cert.pem")),
            own.writeKey(directory.resolve("key.pem")),
            ca,
            ClientCertificate.REQUIRED);
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withTls(tls))) {
      ManagedChannel without = encrypted(server, ca, Optional.empty());
      assertEquals(Status.Code.UNAVAILABLE, failure(GrpcAccessTest::live, without).getCode());
      without.shutdownNow();
      Identity stranger =
          TestCertificates.signed("client", TestCertificates.authority("another ca"));
      ManagedChannel strange = encrypted(server, ca, Optional.of(stranger));
      assertEquals(Status.Code.UNAVAILABLE, failure(GrpcAccessTest::live, strange).getCode());
      strange.shutdownNow();
      ManagedChannel known =
          encrypted(server, ca, Optional.of(TestCertificates.signed("client", authority)));
      live(known);
      known.shutdownNow();
    }
  }

  @Test
  void aRenewedCertificateIsTakenUp() throws Exception {
    Identity before = TestCertificates.authority("before");
    Identity after = TestCertificates.authority("after");
    Path oldCa = before.writeCertificate(directory.resolve("before.pem"));
    Path newCa = after.writeCertificate(directory.resolve("after.pem"));
    Identity first = TestCertificates.signed("server", before);
    Path certificate = first.writeCertificate(directory.resolve("cert.pem"));
    Path key = first.writeKey(directory.resolve("key.pem"));
    try (GrpcFixture server =
        server(GrpcOptions.DEFAULT.withTls(ServerTlsOptions.of(certificate, key)))) {
      ManagedChannel old = encrypted(server, oldCa, Optional.empty());
      live(old);
      Identity second = TestCertificates.signed("server", after);
      second.writeCertificate(certificate);
      second.writeKey(key);
      ManagedChannel fresh = encrypted(server, newCa, Optional.empty());
      ClientCalls.blockingUnaryCall(
          fresh,
          GrpcFixture.method(
              "ServerLive",
              ServerLiveRequest.getDefaultInstance(),
              ServerLiveResponse.getDefaultInstance()),
          patience().withWaitForReady(), // the files are looked at once a second
          ServerLiveRequest.getDefaultInstance());
      live(old); // its connection stays
      old.shutdownNow();
      fresh.shutdownNow();
    }
  }
}
