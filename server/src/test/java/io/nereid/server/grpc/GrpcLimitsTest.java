package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelRepositoryParameter;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelLoadResponse;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.server.http.FrameClient;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits for clients, and the transport's settings for them. */
class GrpcLimitsTest {

  private static final MethodDescriptor<ServerMetadataRequest, ServerMetadataResponse> METADATA =
      GrpcFixture.method(
          "ServerMetadata",
          ServerMetadataRequest.getDefaultInstance(),
          ServerMetadataResponse.getDefaultInstance());

  private static GrpcFixture server(GrpcOptions options) {
    return new GrpcFixture(RepositoryOptions.builder().explicit().build(), options);
  }

  private static String name(Channel channel, CallOptions options) {
    return ClientCalls.blockingUnaryCall(
            channel, METADATA, options, ServerMetadataRequest.getDefaultInstance())
        .getName();
  }

  /** Tries to load a model from a file of a size. */
  private static Status load(GrpcFixture server, int fileBytes) {
    byte[] file = new byte[fileBytes];
    new Random(1).nextBytes(file);
    RepositoryModelLoadRequest request =
        RepositoryModelLoadRequest.newBuilder()
            .setModelName("m")
            .putParameters(
                "file:1/model",
                ModelRepositoryParameter.newBuilder()
                    .setBytesParam(ByteString.copyFrom(file))
                    .build())
            .build();
    return assertThrows(
            StatusRuntimeException.class,
            () ->
                server.call(
                    "RepositoryModelLoad",
                    request,
                    RepositoryModelLoadResponse.getDefaultInstance()))
        .getStatus();
  }

  @Test
  void aMessageThatIsTooLarge() {
    try (GrpcFixture server =
        server(GrpcOptions.DEFAULT.withLimits(GrpcFixture.limits(10_000, 8192, 100)))) {
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, load(server, 10_000).getCode());
      assertEquals(Status.Code.INVALID_ARGUMENT, load(server, 9_000).getCode());
      assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT));
    }
  }

  @Test
  void aMessageOfManyMegabytesByDefault() {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT)) {
      assertEquals(Status.Code.INVALID_ARGUMENT, load(server, 40 << 20).getCode());
    }
  }

  /** The budget for messages on the heap, but for a rest that is left. */
  record HeldHeap(long bytes) implements AutoCloseable {
    HeldHeap(long bytes) {
      this.bytes = MessageBudget.HEAP.most() - MessageBudget.HEAP.taken() - bytes;
      assertTrue(MessageBudget.HEAP.take(this.bytes));
    }

    @Override
    public void close() {
      MessageBudget.HEAP.giveBack(bytes);
    }
  }

  /** An entry of a map takes twenty times the bytes that it has in the message. */
  @Test
  void messagesOfSmallPartsHaveABudget() {
    RepositoryModelUnloadRequest.Builder unload = RepositoryModelUnloadRequest.newBuilder();
    RepositoryModelLoadRequest.Builder load = RepositoryModelLoadRequest.newBuilder();
    for (int i = 0; i < 2000; i++) {
      unload.putParameters("x" + i, ModelRepositoryParameter.getDefaultInstance());
      load.putParameters("x" + i, ModelRepositoryParameter.getDefaultInstance());
    }
    try (GrpcFixture server = server(GrpcOptions.DEFAULT)) {
      long taken = MessageBudget.HEAP.taken();
      assertEquals(Status.Code.INVALID_ARGUMENT, failure(server, unload.build()));
      assertEquals(Status.Code.INVALID_ARGUMENT, failure(server, load.build()));
      InferFixture.await(() -> MessageBudget.HEAP.taken() == taken, "it was not given back");
      try (HeldHeap held = new HeldHeap(100_000)) {
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure(server, unload.build()));
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure(server, load.build()));
        assertEquals(taken + held.bytes(), MessageBudget.HEAP.taken());
        assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT));
      }
    }
  }

  private static Status.Code failure(GrpcFixture server, Message request) {
    boolean isLoad = request instanceof RepositoryModelLoadRequest;
    return assertThrows(
            StatusRuntimeException.class,
            () ->
                server.call(
                    isLoad ? "RepositoryModelLoad" : "RepositoryModelUnload",
                    request,
                    RepositoryModelLoadResponse.getDefaultInstance()))
        .getStatus()
        .getCode();
  }

  /** A model that is named behind the tensors has them on the heap, within the budget. */
  @Test
  void aRenamedModelHasABudget() {
    try (InferFixture server = new InferFixture().identity("m", DataType.FP32)) {
      float[] values = new float[50_000];
      values[0] = 7;
      ModelInferRequest.Builder usual = InferFixture.floats("m", values);
      long taken = MessageBudget.HEAP.taken();
      assertEquals(7, firstFloat(server, usual, "nosuch", "m"));
      try (HeldHeap held = new HeldHeap(100_000)) {
        assertEquals(7, firstFloat(server, usual, "m"));
        Status refused =
            assertThrows(
                    StatusRuntimeException.class, () -> firstFloat(server, usual, "nosuch", "m"))
                .getStatus();
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, refused.getCode(), refused::toString);
        assertEquals(taken + held.bytes(), MessageBudget.HEAP.taken());
      }
      assertEquals(taken, MessageBudget.HEAP.taken());
    }
  }

  /** Infers with a message that goes on with these names of models. */
  private static float firstFloat(
      InferFixture server, ModelInferRequest.Builder usual, String... names) {
    ByteString message = usual.build().toByteString();
    for (String name : names) {
      message =
          message.concat(ModelInferRequest.newBuilder().setModelName(name).build().toByteString());
    }
    MethodDescriptor<byte[], ModelInferResponse> method =
        InferFixture.INFER.toBuilder(
                new BytesMarshaller(), InferFixture.INFER.getResponseMarshaller())
            .build();
    return InferFixture.firstFloat(
        ClientCalls.blockingUnaryCall(
            server.channel(), method, InferFixture.patient(), message.toByteArray()));
  }

  @Test
  void metadataThatIsTooLarge() {
    try (GrpcFixture server =
        server(GrpcOptions.DEFAULT.withLimits(GrpcFixture.limits(1 << 20, 2048, 100)))) {
      Metadata headers = new Metadata();
      headers.put(Metadata.Key.of("long", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(4096));
      ClientInterceptor adding = MetadataUtils.newAttachHeadersInterceptor(headers);
      assertThrows(
          StatusRuntimeException.class,
          () -> name(ClientInterceptors.intercept(server.channel(), adding), CallOptions.DEFAULT));
      assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT));
    }
  }

  /** The encoding in which a reply came. */
  private static String replyEncoding(GrpcFixture server) {
    AtomicReference<String> encoding = new AtomicReference<>();
    ClientInterceptor reading =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            return new ForwardingClientCall.SimpleForwardingClientCall<>(
                next.newCall(method, options)) {
              @Override
              public void start(Listener<R> listener, Metadata headers) {
                super.start(
                    new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(
                        listener) {
                      @Override
                      public void onHeaders(Metadata replied) {
                        encoding.set(
                            replied.get(
                                Metadata.Key.of(
                                    "grpc-encoding", Metadata.ASCII_STRING_MARSHALLER)));
                        super.onHeaders(replied);
                      }
                    },
                    headers);
              }
            };
          }
        };
    assertEquals(
        "nereid",
        name(ClientInterceptors.intercept(server.channel(), reading), CallOptions.DEFAULT));
    return encoding.get();
  }

  @Test
  void compression() {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT)) {
      assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT.withCompression("gzip")));
      assertTrue(
          replyEncoding(server) == null || replyEncoding(server).equals("identity"),
          replyEncoding(server));
    }
    for (GrpcCompression level :
        new GrpcCompression[] {GrpcCompression.LOW, GrpcCompression.HIGH}) {
      try (GrpcFixture server = server(GrpcOptions.DEFAULT.withCompression(level))) {
        assertEquals("gzip", replyEncoding(server));
      }
    }
  }

  @Test
  void oneConnectionTooMany() throws Exception {
    try (GrpcFixture server =
        server(GrpcOptions.DEFAULT.withLimits(GrpcFixture.limits(10_000, 8192, 2)))) {
      ManagedChannel second = GrpcFixture.channel(server.server().port());
      ManagedChannel third = GrpcFixture.channel(server.server().port());
      try {
        assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT));
        assertEquals("nereid", name(second, CallOptions.DEFAULT));
        assertToldOfLimit(server.server().port());
        assertEquals(
            Status.Code.UNAVAILABLE,
            assertThrows(StatusRuntimeException.class, () -> name(third, CallOptions.DEFAULT))
                .getStatus()
                .getCode());
        assertEquals(2, server.server().connectionCount());
        // Those that are there are served on, and one that goes makes room.
        assertEquals("nereid", name(second, CallOptions.DEFAULT));
        second.shutdownNow();
        InferFixture.await(() -> isServed(third), "there is no room");
      } finally {
        second.shutdownNow();
        third.shutdownNow();
      }
    }
  }

  private static boolean isServed(Channel channel) {
    try {
      return name(channel, CallOptions.DEFAULT).equals("nereid");
    } catch (StatusRuntimeException e) {
      assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
      return false;
    }
  }

  /**
   * Every client is sent away, and told why, unless it was just writing: then its own kernel may
   * throw the goodbye away.
   */
  private static void assertToldOfLimit(int port) {
    Status refused = Status.OK;
    for (int i = 0; i < 20; i++) {
      ManagedChannel channel = GrpcFixture.channel(port);
      try {
        refused =
            assertThrows(StatusRuntimeException.class, () -> name(channel, CallOptions.DEFAULT))
                .getStatus();
      } finally {
        channel.shutdownNow();
      }
      assertEquals(Status.Code.UNAVAILABLE, refused.getCode(), refused::toString);
      String told =
          "expected at most 2 connections at a time; --grpc-max-connections sets the limit";
      if (refused.getDescription().contains(told)) {
        return;
      }
    }
    fail("nobody was told why: " + refused);
  }

  @Test
  void connectionsEndAtTheirAge() {
    GrpcKeepAlive keepAlive =
        new GrpcKeepAlive(
            Duration.ofHours(1),
            Duration.ofSeconds(10),
            Duration.ZERO,
            true,
            Optional.of(Duration.ofMillis(100)),
            Optional.of(Duration.ofSeconds(10)));
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withKeepAlive(keepAlive))) {
      ManagedChannel channel = server.channel();
      assertEquals("nereid", name(channel, CallOptions.DEFAULT));
      // The client leaves the connection when it is asked to, and makes another one.
      CountDownLatch left = new CountDownLatch(1);
      channel.notifyWhenStateChanged(ConnectivityState.READY, left::countDown);
      assertTrue(await(left), "the connection stayed");
      assertEquals("nereid", name(channel, CallOptions.DEFAULT.withWaitForReady()));
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  void bytesOtherThanHttp2EndTheConnectionOnly() throws IOException {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT)) {
      for (String sent : new String[] {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\0\0\0\0\0\0\0\0\0"}) {
        try (Socket socket = new Socket("127.0.0.1", server.server().port())) {
          socket.setSoTimeout((int) GrpcFixture.PATIENCE.toMillis());
          socket.getOutputStream().write(sent.getBytes(StandardCharsets.ISO_8859_1));
          while (socket.getInputStream().read() >= 0) {
            // what the server says before it closes
          }
        }
      }
      assertEquals("nereid", name(server.channel(), CallOptions.DEFAULT));
    }
  }

  /** A call whose head is refused, and more of it in the same write. */
  private static byte[] refused(int stream, int dataFrames, String... field) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] block = FrameClient.block("POST", GrpcFrames.path("ModelInfer"), field);
    all.writeBytes(FrameClient.bytes(FrameClient.HEADERS, FrameClient.END_HEADERS, stream, block));
    byte[] data = FrameClient.bytes(FrameClient.DATA, 0, stream, new byte[16 << 10]);
    for (int i = 0; i < dataFrames; i++) {
      all.writeBytes(data);
    }
    int ending = FrameClient.END_HEADERS | FrameClient.END_STREAM;
    all.writeBytes(FrameClient.bytes(FrameClient.HEADERS, ending, stream, new byte[0]));
    return all.toByteArray();
  }

  /** The frames hold twice what a connection may send ahead. */
  @ParameterizedTest
  @CsvSource({"x-bin, a", "te, x"})
  void aHeadThatIsRefusedEndsItsCallOnly(String name, String value) throws Exception {
    try (GrpcFixture server = server(GrpcOptions.DEFAULT);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      client
          .head(1, false, "POST", "/grpc.health.v1.Health/Watch", GrpcFrames.FIELDS)
          .data(1, GrpcFrames.message(new byte[0]), true)
          .await(FrameClient.DATA, 0);
      client.send(refused(3, 512, "content-type", "application/grpc", name, value));
      assertEquals(1, client.awaitReset(3));
      client.send(refused(5, 0, "content-type", "application/grpc", name, value)).reset(5);
      GrpcFrames.call(client, 7, "ServerLive", new byte[0]).expect(200);
      assertFalse(client.reply(1).complete, "the watch has ended");
    }
  }

  @Test
  void aCallTooManyEndsAlone() throws Exception {
    try (GrpcFixture server =
            server(GrpcOptions.DEFAULT.withLimits(GrpcFixture.limits(10_000, 8192, 100)));
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      int last = 1;
      for (int i = 0; i < 100; i++, last += 2) {
        client.head(last, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      }
      client.send(refused(last, 1, GrpcFrames.FIELDS));
      assertEquals(FrameClient.REFUSED_STREAM, client.awaitReset(last));
      client.reset(1);
      GrpcFrames.call(client, last + 2, "ServerLive", new byte[0]).expect(200);
    }
  }
}
