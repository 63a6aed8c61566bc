package io.nereid.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/** Takes every connection that Helidon accepts. */
final class ConnectionSelector implements ServerConnectionSelector {

  private final HttpContext context;
  private final AcceptedChannels channels;

  ConnectionSelector(HttpContext context, AcceptedChannels channels) {
    this.context = context;
    this.channels = channels;
  }

  @Override
  public int bytesToIdentifyConnection() {
    return 0;
  }

  @Override
  public Support supports(BufferData data) {
    return Support.SUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return Set.of("http/1.1");
  }

  @Override
  public ServerConnection connection(ConnectionContext connection) {
    boolean full = context.watch().count() >= context.limits().connectionCount();
    HttpConnection taken =
        new HttpConnection(context, channels.take(connection.remotePeer().address()));
    return full ? taken.refused() : taken;
  }
}
