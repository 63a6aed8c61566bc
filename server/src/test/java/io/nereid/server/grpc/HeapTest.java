package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.CodedOutputStream;
import com.sun.management.ThreadMXBean;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.stub.ClientCalls;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.FrameClient;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** The heap that the server's threads allocate to answer a request, by the JVM's own count. */
class HeapTest {

  private static final int WARM_UP = 200;
  private static final int ROUNDS = 3;
  private static final int ROUND_REQUESTS = 40;

  /**
   * What a tensor of 602 112 bytes may cost more than one of 64: the transport's objects for the
   * frames that carry it, and nothing of its size.
   */
  private static final long FRAMES_BYTES = 64 << 10;

  private static MethodDescriptor<byte[], byte[]> method(String name) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodType.UNARY)
        .setFullMethodName(InferenceService.NAME + "/" + name)
        .setRequestMarshaller(new BytesMarshaller())
        .setResponseMarshaller(new BytesMarshaller())
        .build();
  }

  @Test
  void aTensorIsNotOnTheHeap() {
    try (InferFixture server = new InferFixture().identity("m", DataType.FP32)) {
      long small = bytesPerRequest(server, 16);
      long large = bytesPerRequest(server, 150_528);
      assertTrue(
          large - small < FRAMES_BYTES,
          () -> "expected " + small + " to " + (small + FRAMES_BYTES) + " bytes, got " + large);
    }
  }

  /** Fields that the server does not know would take fifty times their size. */
  @Test
  void unknownFieldsAreNotOnTheHeap() throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(request);
    for (int i = 0; i < 15_000; i++) {
      out.writeUInt32(1000 + i, 0);
    }
    out.flush();
    try (InferFixture server = new InferFixture()) {
      long bytes = bytesPerCall(server.channel(), method("RepositoryIndex"), request.toByteArray());
      // The transport's buffers and copies of them are several times the size.
      assertTrue(bytes < 10 * request.size(), () -> request.size() + " bytes took " + bytes);
    }
  }

  /** A compressed file of a model is not inflated beyond what messages may hold. */
  @Test
  void aBombIsInflatedAsFarAsTheBudgetGoes() throws IOException {
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
      gzip.write(new byte[64 << 20]);
    }
    byte[] message = GrpcFrames.message(bomb.toByteArray());
    message[0] = 1;
    long before = MessageBudget.HEAP.taken();
    try (GrpcFixture server = new GrpcFixture(RepositoryOptions.builder().explicit().build());
        GrpcLimitsTest.HeldHeap held = new GrpcLimitsTest.HeldHeap(1 << 20);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      client.head(1, false, "POST", GrpcFrames.path("RepositoryModelLoad"), GrpcFrames.GZIP_FIELDS);
      long allocated = allocatedByServer();
      FrameClient.Reply reply = client.data(1, message, true).await(1);
      long bytes = allocatedByServer() - allocated;
      assertEquals("8", reply.fields.get("grpc-status"), reply.fields::toString);
      assertTrue(bytes < 16 << 20, () -> "took " + bytes);
      assertEquals(before + held.bytes(), MessageBudget.HEAP.taken());
    }
  }

  private static long bytesPerRequest(InferFixture server, int elements) {
    byte[] request = InferFixture.floats("m", new float[elements]).build().toByteArray();
    return bytesPerCall(server.channel(), method("ModelInfer"), request);
  }

  /** The least of some rounds: a thread may have something else to do in one of them. */
  private static long bytesPerCall(
      ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, byte[] request) {
    for (int i = 0; i < WARM_UP; i++) {
      ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long before = allocatedByServer();
      for (int i = 0; i < ROUND_REQUESTS; i++) {
        ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
      }
      least = Math.min(least, (allocatedByServer() - before) / ROUND_REQUESTS);
    }
    return least;
  }

  /** The bytes that all threads of the server allocated; those of the client have other names. */
  private static long allocatedByServer() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long[] servers =
        Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
            .filter(thread -> thread != null && thread.getThreadName().startsWith("nrd-"))
            .mapToLong(thread -> thread.getThreadId())
            .toArray();
    return Arrays.stream(threads.getThreadAllocatedBytes(servers)).sum();
  }
}
