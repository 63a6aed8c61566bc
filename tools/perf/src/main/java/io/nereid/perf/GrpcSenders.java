package io.nereid.perf;

import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Opens calls or streams of gRPC over a few connections, and owns these and the few threads that
 * serve them.
 */
final class GrpcSenders implements LoadRun.Senders {

  private static final long CONNECT_NS = 10_000_000_000L;
  private static final long POLL_NS = 500_000;

  private final RequestPlan plan;
  private final IntFunction<Requests.Position> positions;
  private final ReplyCheck check; // null: none
  private final Metadata headers;
  private final MultiThreadIoEventLoopGroup group;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final List<Tally> tallies = new ArrayList<>();
  private final MethodDescriptor<RawMessage, byte[]> unary;
  private final MethodDescriptor<RawMessage, RawMessage.StreamReply> stream;

  GrpcSenders(
      RequestPlan plan,
      IntFunction<Requests.Position> positions,
      ReplyCheck check,
      int threads,
      int connections) {
    this.plan = plan;
    this.positions = positions;
    this.check = check;
    headers = GrpcSenders.headers(plan.target());
    boolean epoll = Epoll.isAvailable();
    group =
        new MultiThreadIoEventLoopGroup(
            threads,
            new DefaultThreadFactory("nrd-perf", true),
            epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    for (int i = 0; i < connections; i++) {
      channels.add(
          GrpcSenders.builder(plan.target())
              .eventLoopGroup(group)
              .channelType(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
              .build());
      tallies.add(new Tally());
    }
    unary =
        MethodDescriptor.<RawMessage, byte[]>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(GrpcSenders.SERVICE + "/ModelInfer")
            .setRequestMarshaller(RawMessage.REQUESTS)
            .setResponseMarshaller(RawMessage.replies(check != null))
            .build();
    stream =
        MethodDescriptor.<RawMessage, RawMessage.StreamReply>newBuilder()
            .setType(MethodType.BIDI_STREAMING)
            .setFullMethodName(GrpcSenders.SERVICE + "/ModelStreamInfer")
            .setRequestMarshaller(RawMessage.REQUESTS)
            .setResponseMarshaller(new RawMessage.StreamReply.Reader(check != null))
            .build();
  }

  @Override
  public Sender open(int index, SendingRun run) throws IOException {
    int number = index % channels.size();
    connect(channels.get(number));
    Requests.Position position = positions.apply(index);
    return plan.streaming()
        ? new GrpcStreamSender(index, number, this, run, position)
        : new GrpcCallSender(index, number, this, run, position);
  }

  /** Connects beforehand, so that the first calls do not count the time of connecting. */
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

  /** Begins a call with this time limit; 0: none. */
  ClientCall<RawMessage, byte[]> call(int channel, long allowedNs) {
    CallOptions options = CallOptions.DEFAULT;
    return channels
        .get(channel)
        .newCall(
            unary,
            allowedNs == 0 ? options : options.withDeadlineAfter(allowedNs, TimeUnit.NANOSECONDS));
  }

  ClientCall<RawMessage, RawMessage.StreamReply> stream(int channel) {
    return channels.get(channel).newCall(stream, CallOptions.DEFAULT);
  }

  Tally tally(int channel) {
    return tallies.get(channel);
  }

  boolean decoupled() {
    return plan.model().decoupled();
  }

  /** Returns a copy of the headers, since a call adds to them. */
  Metadata freshHeaders() {
    Metadata fresh = new Metadata();
    fresh.merge(headers);
    return fresh;
  }

  /** Returns the fault of a reply; null: there is none, or replies are not checked. */
  String fault(byte[] reply) {
    return check == null ? null : check.grpc(reply);
  }

  /** Runs a task soon, after the caller has returned. */
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

  static final String SERVICE = "inference.GRPCInferenceService";

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  /** Makes a channel without an executor, as all its callbacks are short. */
  static NettyChannelBuilder builder(Target target) {
    return NettyChannelBuilder.forAddress(target.host(), target.port(), credentials(target))
        .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .directExecutor();
  }

  private static ChannelCredentials credentials(Target target) {
    if (target.tls().isEmpty()) {
      return InsecureChannelCredentials.create();
    }
    TlsFiles files = target.tls().get();
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    try {
      if (files.trusted().isPresent()) {
        builder.trustManager(files.trustManagers());
      }
      if (files.certificate().isPresent()) {
        builder.keyManager(files.keyManagers());
      }
    } catch (GeneralSecurityException | IOException e) {
      throw new PerfException("TLS cannot be set up: " + e.getMessage(), e);
    }
    return builder.build();
  }

  static Metadata headers(Target target) {
    Metadata headers = new Metadata();
    target
        .headers()
        .forEach((name, value) ->
            headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
    return headers;
  }

  /** The pause before retrying over a broken connection, which would fail at once. */
  static final long PAUSE_MS = 20;

  static String text(Status status) {
    String description = status.getDescription() == null ? "" : status.getDescription();
    String cause = status.getCause() == null ? "" : " (" + status.getCause().getMessage() + ")";
    return ErrorText.of(description + cause);
  }

  /** Returns the time to wait before the next call. */
  static long pauseMs(Status status) {
    return status.getCause() == null ? 0 : PAUSE_MS;
  }
}
