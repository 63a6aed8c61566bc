package io.nereid.perf;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Calls or streams of gRPC over a few connections, which a few threads serve. */
final class GrpcSlots implements Slots {

  private static final long CONNECT_NS = 10_000_000_000L;
  private static final long POLL_NS = 500_000;

  private final RequestPlan plan;
  private final Requests requests;
  private final ReplyCheck check; // null: none
  private final Metadata headers;
  private final MultiThreadIoEventLoopGroup group;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final List<Tally> tallies = new ArrayList<>();
  private final MethodDescriptor<RawMessage, byte[]> unary;
  private final MethodDescriptor<RawMessage, StreamReply> stream;

  GrpcSlots(RequestPlan plan, Requests requests, ReplyCheck check, int threads, int connections) {
    this.plan = plan;
    this.requests = requests;
    this.check = check;
    headers = GrpcChannels.headers(plan.target());
    boolean epoll = Epoll.isAvailable();
    group =
        new MultiThreadIoEventLoopGroup(
            threads,
            new DefaultThreadFactory("nrd-perf", true),
            epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    for (int i = 0; i < connections; i++) {
      channels.add(
          GrpcChannels.builder(plan.target())
              .eventLoopGroup(group)
              .channelType(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
              .build());
      tallies.add(new Tally());
    }
    unary =
        MethodDescriptor.<RawMessage, byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(GrpcChannels.SERVICE + "/ModelInfer")
            .setRequestMarshaller(RawMessage.REQUESTS)
            .setResponseMarshaller(RawMessage.replies(check != null))
            .build();
    stream =
        MethodDescriptor.<RawMessage, StreamReply>newBuilder()
            .setType(MethodType.BIDI_STREAMING)
            .setFullMethodName(GrpcChannels.SERVICE + "/ModelStreamInfer")
            .setRequestMarshaller(RawMessage.REQUESTS)
            .setResponseMarshaller(new StreamReply.Reader(check != null))
            .build();
  }

  @Override
  public Slot open(int index, LoadRun run) throws IOException {
    int number = index % channels.size();
    connect(channels.get(number));
    Requests.Position position = requests.position(index);
    return plan.streaming()
        ? new GrpcStreamSlot(index, number, this, run, position)
        : new GrpcCallSlot(index, number, this, run, position);
  }

  /** Else the first calls would count the time of connecting. */
  private static void connect(ManagedChannel channel) throws IOException {
    long deadlineNs = System.nanoTime() + CONNECT_NS;
    for (ConnectivityState state = channel.getState(true); state != ConnectivityState.READY; ) {
      if (state == ConnectivityState.TRANSIENT_FAILURE || System.nanoTime() - deadlineNs > 0) {
        throw new IOException("no connection to " + channel.authority());
      }
      LockSupport.parkNanos(POLL_NS);
      state = channel.getState(true);
    }
  }

  ClientCall<RawMessage, byte[]> call(int channel) {
    return channels.get(channel).newCall(unary, CallOptions.DEFAULT);
  }

  ClientCall<RawMessage, StreamReply> stream(int channel) {
    return channels.get(channel).newCall(stream, CallOptions.DEFAULT);
  }

  Tally tally(int channel) {
    return tallies.get(channel);
  }

  boolean decoupled() {
    return plan.model().decoupled();
  }

  /** A call adds to its headers. */
  Metadata freshHeaders() {
    Metadata fresh = new Metadata();
    fresh.merge(headers);
    return fresh;
  }

  /** What is wrong with a reply; null: nothing, or nobody looks. */
  String fault(byte[] reply) {
    return check == null ? null : check.grpc(reply);
  }

  /** Runs something soon, and not within the call that asks for it. */
  void later(Runnable task, long delayMs) {
    if (!group.isShuttingDown()) {
      group.next().schedule(task, delayMs, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public List<Tally> tallies() {
    return List.copyOf(tallies);
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    for (ManagedChannel channel : channels) {
      try {
        channel.awaitTermination(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
