package io.nereid.server.grpc;

import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.nereid.Nereid;
import io.nereid.server.shared.ServerState;
import io.nereid.server.wire.HttpPort;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The least that a server can do behind the same transport: takes a message as bytes and sends it
 * back, on the event loop. What {@link GrpcLoad} compares with.
 */
final class BareGrpcEcho {

  private BareGrpcEcho() {}

  /** Prints the port it listens on, and serves until the process ends. */
  public static void main(String[] args) throws Exception {
    ServerState state = ServerState.builder(Nereid.create()).build();
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(InferenceService.NAME + "/ModelInfer")
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();
    HttpPort port =
        GrpcServer.listen(
            state,
            GrpcOptions.DEFAULT,
            new MethodTable(
                List.of(
                    ServerServiceDefinition.builder(InferenceService.NAME)
                        .addMethod(method, (call, headers) -> start(call))
                        .build()),
                List::of),
            new AtomicInteger());
    System.out.println("Serving gRPC at 127.0.0.1:" + port.number());
    System.out.println("Ready");
    Thread.currentThread().join();
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
