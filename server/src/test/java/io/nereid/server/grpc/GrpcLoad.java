package io.nereid.server.grpc;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.nereid.cli.ServeProcess;
import io.nereid.proto.ModelInferRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.LongAdder;

/**
 * Throughput and CPU per request of ModelInfer beside those of a bare echo, in turns on one
 * machine. To be started by hand, with the class path of the tests: {@code GrpcLoad [ELEMENTS
 * [IN_FLIGHT [ROUNDS [SECONDS [CONNECTIONS]]]]]}.
 */
final class GrpcLoad {

  private static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodType.UNARY)
          .setFullMethodName(InferenceService.NAME + "/ModelInfer")
          .setRequestMarshaller(new BareGrpcEcho.Bytes())
          .setResponseMarshaller(new BareGrpcEcho.Bytes())
          .build();

  private GrpcLoad() {}

  private record Figure(double requestsPerSecond, double cpuUs) {}

  /** A server process. */
  private record Peer(String name, Process process, int port, List<Figure> figures) {}

  public static void main(String[] args) throws Exception {
    int elements = number(args, 0, 16);
    int inFlight = number(args, 1, 8);
    int rounds = number(args, 2, 5);
    int seconds = number(args, 3, 3);
    int connections = Math.min(inFlight, number(args, 4, 8));
    byte[] request = request(elements);
    List<Peer> peers =
        List.of(
            start("nereid", "io.nereid.cli.Main", ServeProcess.arguments()),
            start("bare echo", BareGrpcEcho.class.getName(), List.of()));
    try {
      for (Peer peer : peers) {
        measure(peer, request, inFlight, connections, Math.max(5, seconds)); // warms up
      }
      for (int i = 0; i < rounds; i++) {
        for (Peer peer : peers) {
          peer.figures().add(measure(peer, request, inFlight, connections, seconds));
        }
      }
      System.out.printf(
          Locale.ROOT,
          "%d FP32, %d in flight on %d connections, %d rounds%n",
          elements,
          inFlight,
          connections,
          rounds);
      peers.forEach(GrpcLoad::print);
    } finally {
      peers.forEach(peer -> peer.process().destroy());
    }
  }

  private static int number(String[] args, int index, int otherwise) {
    return index < args.length ? Integer.parseInt(args[index]) : otherwise;
  }

  private static byte[] request(int elements) {
    return ModelInferRequest.newBuilder()
        .setModelName("identity_fp32")
        .addInputs(
            ModelInferRequest.InferInputTensor.newBuilder()
                .setName("INPUT0")
                .setDatatype("FP32")
                .addShape(1)
                .addShape(elements))
        .addRawInputContents(UnsafeByteOperations.unsafeWrap(new byte[elements * Float.BYTES]))
        .build()
        .toByteArray();
  }

  private static Peer start(String name, String main, List<String> arguments) throws IOException {
    Process process = ServeProcess.start(main, arguments);
    BufferedReader printed = process.inputReader();
    int port = 0;
    for (String line = printed.readLine(); line != null; line = printed.readLine()) {
      if (line.startsWith("Serving gRPC at ")) {
        port = Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
      }
      if (line.startsWith("Ready")) {
        return new Peer(name, process, port, new ArrayList<>());
      }
    }
    throw new IOException(name + " did not start");
  }

  private static Figure measure(
      Peer peer, byte[] request, int inFlight, int connections, int seconds) {
    List<ManagedChannel> channels = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      channels.add(
          NettyChannelBuilder.forAddress("127.0.0.1", peer.port())
              .usePlaintext()
              .directExecutor()
              .maxInboundMessageSize(Integer.MAX_VALUE)
              .build());
    }
    LongAdder done = new LongAdder();
    Phaser running = new Phaser(1);
    Duration before = cpu(peer);
    long startNs = System.nanoTime();
    long deadlineNs = startNs + Duration.ofSeconds(seconds).toNanos();
    for (int i = 0; i < inFlight; i++) {
      running.register();
      new Caller(channels.get(i % connections), request, deadlineNs, done, running).call();
    }
    running.arriveAndAwaitAdvance();
    double tookSeconds = (System.nanoTime() - startNs) / 1e9;
    double cpuNs = cpu(peer).minus(before).toNanos();
    channels.forEach(ManagedChannel::shutdownNow);
    return new Figure(done.sum() / tookSeconds, cpuNs / done.sum() / 1000);
  }

  private static Duration cpu(Peer peer) {
    return peer.process().info().totalCpuDuration().orElseThrow();
  }

  /** Makes one call after the other. */
  private record Caller(
      ManagedChannel channel, byte[] request, long deadlineNs, LongAdder done, Phaser running) {

    void call() {
      ClientCall<byte[], byte[]> call = channel.newCall(METHOD, CallOptions.DEFAULT);
      call.start(
          new ClientCall.Listener<>() {
            @Override
            public void onClose(Status status, Metadata trailers) {
              if (!status.isOk()) {
                System.err.println(status);
                running.arriveAndDeregister();
                return;
              }
              done.increment();
              if (System.nanoTime() < deadlineNs) {
                call();
              } else {
                running.arriveAndDeregister();
              }
            }
          },
          new Metadata());
      call.request(2);
      call.sendMessage(request);
      call.halfClose();
    }
  }

  private static void print(Peer peer) {
    double[] rates =
        peer.figures().stream().mapToDouble(Figure::requestsPerSecond).sorted().toArray();
    double[] cpus = peer.figures().stream().mapToDouble(Figure::cpuUs).sorted().toArray();
    System.out.printf(
        Locale.ROOT,
        "%-10s %8.0f requests/s (%.0f to %.0f), %6.1f us CPU (%.1f to %.1f)%n",
        peer.name(),
        rates[rates.length / 2],
        rates[0],
        Arrays.stream(rates).max().orElseThrow(),
        cpus[cpus.length / 2],
        cpus[0],
        Arrays.stream(cpus).max().orElseThrow());
  }
}
