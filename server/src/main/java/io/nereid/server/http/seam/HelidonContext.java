package io.nereid.server.http.seam;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http.ServerRequest;
import java.net.SocketAddress;
import java.security.Principal;
import java.security.cert.Certificate;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** A connection's context for Helidon's HTTP/1.1, with Nereid's reader, writer and peer. */
final class HelidonContext implements ConnectionContext {

  private final ConnectionContext original;
  private final ClientConnection connection;
  private final PeerInfo peer;

  HelidonContext(ConnectionContext original, ClientConnection connection) {
    this.original = original;
    this.connection = connection;
    peer = new Peer(original.remotePeer(), connection);
  }

  /** The connection that a request came through. */
  static ClientConnection connection(ServerRequest request) {
    return ((Peer) request.remotePeer()).connection();
  }

  ClientConnection connection() {
    return connection;
  }

  @Override
  public DataReader dataReader() {
    return connection.reader().helidon();
  }

  @Override
  public DataWriter dataWriter() {
    return connection.writer();
  }

  @Override
  public PeerInfo remotePeer() {
    return peer;
  }

  @Override
  public PeerInfo localPeer() {
    return original.localPeer();
  }

  @Override
  public boolean isSecure() {
    return connection.channel().isEncrypted();
  }

  @Override
  public ListenerContext listenerContext() {
    return original.listenerContext();
  }

  @Override
  public ExecutorService executor() {
    return original.executor();
  }

  @Override
  public Router router() {
    return original.router();
  }

  @Override
  public String socketId() {
    return original.socketId();
  }

  @Override
  public String childSocketId() {
    return original.childSocketId();
  }

  /** The peer in Helidon's requests, which leads from a request to its connection. */
  private record Peer(PeerInfo original, ClientConnection connection) implements PeerInfo {

    @Override
    public SocketAddress address() {
      return original.address();
    }

    @Override
    public String host() {
      return original.host();
    }

    @Override
    public int port() {
      return original.port();
    }

    @Override
    public Optional<Principal> tlsPrincipal() {
      return Optional.empty();
    }

    @Override
    public Optional<Certificate[]> tlsCertificates() {
      return Optional.empty();
    }
  }
}
