package io.nereid.server.http.seam;

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
 * Collects each channel that Helidon accepted, on the listener's thread, before Helidon wraps it;
 * the connection's own thread takes the channel by its two addresses.
 */
final class AcceptedChannels implements SocketOptions {

  private final SocketOptions options = SocketOptions.create();
  private final Map<Ends, SocketChannel> channels = new ConcurrentHashMap<>();

  /** The addresses of both ends; clients may use one port for several of the server's addresses. */
  private record Ends(SocketAddress server, SocketAddress client) {}

  @Override
  public void configureSocket(SocketChannel channel) {
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      // connections that failed to start leave closed ones
      channels.values().removeIf(known -> !known.isOpen());
      channels.put(new Ends(channel.getLocalAddress(), channel.getRemoteAddress()), channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes and returns the channel between two addresses; empty if it was closed meanwhile. */
  Optional<SocketChannel> take(SocketAddress server, SocketAddress client) {
    return Optional.ofNullable(channels.remove(new Ends(server, client)));
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
