package io.nereid.benchmarks;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** A channel over which one message is sent to ModelInfer again and again. */
public final class GrpcExchange implements AutoCloseable {

  private static final MethodDescriptor<byte[], byte[]> INFER =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodType.UNARY)
          .setFullMethodName("inference.GRPCInferenceService/ModelInfer")
          .setRequestMarshaller(new Bytes())
          .setResponseMarshaller(new Bytes())
          .build();

  private final ManagedChannel channel;
  private final byte[] message;

  /** Connects when the first call is made. */
  public GrpcExchange(int port, byte[] message) {
    channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .usePlaintext()
            .directExecutor()
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build();
    this.message = message;
  }

  /** Makes a call; gives the length of the reply. */
  public int run() {
    return ClientCalls.blockingUnaryCall(channel, INFER, CallOptions.DEFAULT, message).length;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private record Bytes() implements MethodDescriptor.Marshaller<byte[]> {

    @Override
    public InputStream stream(byte[] bytes) {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
