package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.stub.ClientCalls;
import io.nereid.types.DataType;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
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

  private static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodType.UNARY)
          .setFullMethodName(InferenceService.NAME + "/ModelInfer")
          .setRequestMarshaller(new BytesMarshaller())
          .setResponseMarshaller(new BytesMarshaller())
          .build();

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

  /** The least of some rounds: a thread may have something else to do in one of them. */
  private static long bytesPerRequest(InferFixture server, int elements) {
    byte[] request = InferFixture.floats("m", new float[elements]).build().toByteArray();
    ManagedChannel channel = server.channel();
    for (int i = 0; i < WARM_UP; i++) {
      ClientCalls.blockingUnaryCall(channel, METHOD, CallOptions.DEFAULT, request);
    }
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long before = allocatedByServer();
      for (int i = 0; i < ROUND_REQUESTS; i++) {
        ClientCalls.blockingUnaryCall(channel, METHOD, CallOptions.DEFAULT, request);
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
