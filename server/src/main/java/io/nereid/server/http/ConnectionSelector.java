package io.nereid.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.nereid.server.tls.TlsSettings;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** Takes every connection that Helidon accepts. */
final class ConnectionSelector implements ServerConnectionSelector {

  private static final String HTTP_1 = "http/1.1";
  static final String HTTP_2 = "h2";

  private final HttpContext context;
  private final AcceptedChannels channels;
  private final TlsSettings tls; // null: bytes travel as they are

  ConnectionSelector(HttpContext context, AcceptedChannels channels, TlsSettings tls) {
    this.context = context;
    this.channels = channels;
    this.tls = tls;
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
    return Set.of(HTTP_1, HTTP_2);
  }

  @Override
  public ServerConnection connection(ConnectionContext connection) {
    SocketChannel socket = channels.take(connection.remotePeer().address());
    ClientChannel channel =
        tls == null
            ? new PlainChannel(socket)
            : new TlsChannel(socket, tls.newEngine(HTTP_2, HTTP_1));
    return new HttpConnection(context, channel);
  }
}
