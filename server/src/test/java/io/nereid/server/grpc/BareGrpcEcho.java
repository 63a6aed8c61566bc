package io.nereid.server.grpc;

import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

/**
 * The least that a server can do behind the same transport: takes a message as bytes and sends it
 * back, on the event loop. What {@link GrpcLoad} compares with.
 */
final class BareGrpcEcho {

  private BareGrpcEcho() {}

  /** Prints the port it listens on, and serves until the process ends. */
  public static void main(String[] args) throws Exception {
    EventLoops loops = new EventLoops();
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(InferenceService.NAME + "/ModelInfer")
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
            .bossEventLoopGroup(loops.acceptor())
            .workerEventLoopGroup(loops.workers())
            .channelFactory(() -> loops.newServerChannel(new ChannelInboundHandlerAdapter()))
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .addService(
                ServerServiceDefinition.builder(InferenceService.NAME)
                    .addMethod(method, (call, headers) -> start(call))
                    .build())
            .build()
            .start();
    System.out.println("Serving gRPC at 127.0.0.1:" + server.getPort());
    System.out.println("Ready");
    server.awaitTermination();
  }

  private static ServerCall.Listener<byte[]> start(ServerCall<byte[], byte[]> call) {
    call.request(1);
    return new ServerCall.Listener<>() {
      private byte[] message;

      @Override
      public void onMessage(byte[] received) {
        message = received;
      }

      @Override
      public void onHalfClose() {
        call.sendHeaders(new Metadata());
        call.sendMessage(message);
        call.close(Status.OK, new Metadata());
      }
    };
  }

  /** Messages as they are. */
  static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream instanceof KnownLength
            ? stream.readNBytes(stream.available())
            : stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
