package io.nereid.server.grpc;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.nereid.cli.ServeProcess;
import io.nereid.server.grpc.ExecutionServer.Way;
import io.nereid.server.shared.ExecutionPace;
import java.io.BufferedReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Phaser;

/**
 * Compares the ways of executing in {@link ExecutionServer}, which take turns: requests, processor
 * time beyond what the model itself takes, and how long a short call waits whose connection has the
 * same event loop. The ground for the limit in {@link ExecutionPace}. To be started by hand, with
 * the class path of the tests: {@code ExecutionLoad [ROUNDS [SLICE_MS [US,US...]]]}.
 */
final class ExecutionLoad {

  /** In flight, and on how many connections. */
  private static final int[][] LOADS = {{1, 1}, {8, 1}, {8, 8}, {32, 1}, {32, 8}};

  private final Process server;
  private final int port;
  private final int rounds;
  private final long sliceNs;

  private ExecutionLoad(Process server, int port, int rounds, long sliceNs) {
    this.server = server;
    this.port = port;
    this.rounds = rounds;
    this.sliceNs = sliceNs;
  }

  /** What was seen of one way, in a slice each. */
  private record Seen(List<Double> rates, List<Double> overheadsUs, List<Double> waitsUs) {
    Seen() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    int sliceMs = args.length > 1 ? Integer.parseInt(args[1]) : 500;
    Process server = ServeProcess.start(ExecutionServer.class.getName(), List.of());
    try {
      BufferedReader printed = server.inputReader();
      int port = 0;
      for (String line = printed.readLine(); !"Ready".equals(line); line = printed.readLine()) {
        if (line.startsWith("Serving gRPC at ")) {
          port = Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
        }
      }
      long sliceNs = Duration.ofMillis(sliceMs).toNanos();
      ExecutionLoad load = new ExecutionLoad(server, port, rounds, sliceNs);
      load.warmUp();
      int[] some =
          args.length > 2
              ? Arrays.stream(args[2].split(",")).mapToInt(Integer::parseInt).toArray()
              : ExecutionServer.EXECUTION_US;
      for (int us : some) {
        for (int[] one : LOADS) {
          load.run(us, one[0], one[1]);
        }
        load.neighbours(us);
      }
    } finally {
      server.destroy();
    }
  }

  /** All ways and models get their compiled code. */
  private void warmUp() {
    List<ManagedChannel> channels = channels(8);
    for (int us : ExecutionServer.EXECUTION_US) {
      compare(channels, us, 8, 4 * sliceNs, new EnumMap<>(Way.class));
    }
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private void run(int us, int inFlight, int connections) {
    List<ManagedChannel> channels = channels(connections);
    channels.forEach(channel -> call(List.of(channel), Way.LOOP, us, 1, 0)); // connects
    Map<Way, Seen> seen = new EnumMap<>(Way.class);
    for (int i = 0; i < rounds; i++) {
      compare(channels, us, inFlight, sliceNs, seen);
    }
    channels.forEach(ManagedChannel::shutdownNow);
    System.out.printf(Locale.ROOT, "%5d us, %2d in flight on %d:", us, inFlight, connections);
    seen.forEach((way, of) ->
        System.out.printf(
            Locale.ROOT, "  %s %.0f/s +%.1f us", way, median(of.rates), median(of.overheadsUs)));
    System.out.println();
  }

  private void compare(
      List<ManagedChannel> channels, int us, int inFlight, long durationNs, Map<Way, Seen> seen) {
    for (Way way : Way.values()) {
      Duration before = server.info().totalCpuDuration().orElseThrow();
      long startNs = System.nanoTime();
      long done =
          call(channels, way, us, inFlight, startNs + durationNs).stream()
              .mapToLong(Long::longValue)
              .sum();
      double tookSeconds = (System.nanoTime() - startNs) / 1e9;
      double cpuUs =
          server.info().totalCpuDuration().orElseThrow().minus(before).toNanos() / 1000.0 / done;
      Seen of = seen.computeIfAbsent(way, unseen -> new Seen());
      of.rates.add(done / tookSeconds);
      of.overheadsUs.add(cpuUs - us);
    }
  }

  /** One call after the other on a connection whose loop has long ones in between. */
  private void neighbours(int us) {
    Map<Way, Seen> seen = new EnumMap<>(Way.class);
    int loops = Runtime.getRuntime().availableProcessors();
    for (int i = 0; i < rounds; i++) {
      for (Way way : Way.values()) {
        // Loops take connections in turns: the first and the last are on the same.
        List<ManagedChannel> channels = channels(loops + 1);
        channels.forEach(channel -> call(List.of(channel), Way.LOOP, 0, 1, 0));
        long endNs = System.nanoTime() + sliceNs;
        Thread busy =
            Thread.startVirtualThread(() -> call(channels.subList(0, 1), way, us, 2, endNs));
        long startNs = System.nanoTime();
        long count = call(channels.subList(loops, loops + 1), Way.LOOP, 0, 1, endNs).getFirst();
        seen.computeIfAbsent(way, unseen -> new Seen())
            .waitsUs
            .add((System.nanoTime() - startNs) / 1000.0 / count);
        try {
          busy.join();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        channels.forEach(ManagedChannel::shutdownNow);
      }
    }
    System.out.printf(Locale.ROOT, "%5d us, a short call beside two of them:", us);
    seen.forEach(
        (way, of) -> System.out.printf(Locale.ROOT, "  %s %.0f us", way, median(of.waitsUs)));
    System.out.println();
  }

  private List<ManagedChannel> channels(int count) {
    List<ManagedChannel> channels = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      channels.add(
          NettyChannelBuilder.forAddress("127.0.0.1", port)
              .usePlaintext()
              .directExecutor()
              .build());
    }
    return channels;
  }

  /** Calls until the time is up, at least once each; how many each made. */
  private static List<Long> call(
      List<ManagedChannel> channels, Way way, int us, int inFlight, long deadlineNs) {
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(ExecutionServer.SERVICE + "/" + way)
            .setRequestMarshaller(new BareGrpcEcho.Bytes())
            .setResponseMarshaller(new BareGrpcEcho.Bytes())
            .build();
    byte[] request = InferFixture.floats("us" + us, new float[16]).build().toByteArray();
    Phaser running = new Phaser(1);
    List<Caller> callers = new ArrayList<>();
    for (int i = 0; i < inFlight; i++) {
      running.register();
      Caller caller =
          new Caller(channels.get(i % channels.size()), method, request, deadlineNs, running);
      callers.add(caller);
      caller.call();
    }
    running.arriveAndAwaitAdvance();
    return callers.stream().map(caller -> caller.done).toList();
  }

  /** Makes one call after the other. */
  private static final class Caller extends ClientCall.Listener<byte[]> {
    private final ManagedChannel channel;
    private final MethodDescriptor<byte[], byte[]> method;
    private final byte[] request;
    private final long deadlineNs;
    private final Phaser running;
    private volatile long done;

    Caller(
        ManagedChannel channel,
        MethodDescriptor<byte[], byte[]> method,
        byte[] request,
        long deadlineNs,
        Phaser running) {
      this.channel = channel;
      this.method = method;
      this.request = request;
      this.deadlineNs = deadlineNs;
      this.running = running;
    }

    void call() {
      ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT);
      call.start(this, new Metadata());
      call.request(2);
      call.sendMessage(request);
      call.halfClose();
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk()) {
        throw new IllegalStateException(status.toString());
      }
      done++;
      if (System.nanoTime() - deadlineNs < 0) {
        call();
      } else {
        running.arriveAndDeregister();
      }
    }
  }

  private static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
