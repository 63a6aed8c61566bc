package io.nereid.server.http;

import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sets the options of accepted sockets, and keeps hold of their channels. Helidon gives a
 * connection its socket only through buffers of its own, 8 KiB a time; what asks for the socket's
 * options sees the channel itself, from which tensors are read without a detour.
 */
final class AcceptedChannels implements SocketOptions {

  /** By the client's address, until the connection takes its channel. */
  private final Map<SocketAddress, SocketChannel> channels = new ConcurrentHashMap<>();

  private final SocketOptions options = SocketOptions.builder().tcpNoDelay(true).build();

  @Override
  public void configureSocket(SocketChannel channel) {
    options.configureSocket(channel);
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      // A client that is gone before its connection was taken would stay here otherwise.
      channels.values().removeIf(other -> !other.isOpen());
      channels.put(channel.getRemoteAddress(), channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The channel of a connection, which is handed out once. */
  SocketChannel take(SocketAddress remote) {
    SocketChannel channel = channels.remove(remote);
    if (channel == null) {
      throw new IllegalStateException("no channel was accepted from " + remote);
    }
    return channel;
  }

  @Override
  public Map<SocketOption<?>, Object> socketOptions() {
    return options.socketOptions();
  }

  @Override
  public Duration connectTimeout() {
    return options.connectTimeout();
  }

  @Override
  public Duration readTimeout() {
    return options.readTimeout();
  }

  @Override
  public Optional<Integer> socketReceiveBufferSize() {
    return options.socketReceiveBufferSize();
  }

  @Override
  public Optional<Integer> socketSendBufferSize() {
    return options.socketSendBufferSize();
  }

  @Override
  public boolean socketReuseAddress() {
    return options.socketReuseAddress();
  }

  @Override
  public boolean socketKeepAlive() {
    return options.socketKeepAlive();
  }

  @Override
  public boolean tcpNoDelay() {
    return options.tcpNoDelay();
  }
}
