package io.nereid.server.http;

import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.ClientAddress;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Collects for the logs what becomes known of the requests of a connection, one after the other,
 * and writes their lines where there is an access log. Used by the connection's thread.
 */
final class RequestLog {

  private static final String NONE = "-";

  private final AccessLog log; // null: there is no access log
  private final HttpExchange exchange;
  private String client; // null: it was not looked up
  private Instant start = Instant.EPOCH;
  private long startNs;
  private String madeId = "";
  private String bodyId = "";
  private long version;

  /** {@code log} is null where there is no access log. */
  RequestLog(AccessLog log, HttpExchange exchange) {
    this.log = log;
    this.exchange = exchange;
  }

  /** A request begins. */
  void begin() {
    bodyId = "";
    version = 0;
    if (log != null) {
      start = Instant.now();
      startNs = System.nanoTime();
      madeId = "";
    }
  }

  /** The id that the body gives the request. */
  void id(String given) {
    bodyId = given;
  }

  /** The version of the model that is to answer. */
  void version(long chosen) {
    version = chosen;
  }

  /** The id that the client, or else this server, gives the present request. */
  String requestId() {
    ProtocolHead head = exchange.head();
    if (head != null && head.requestId() != null) {
      return head.requestId();
    }
    if (!bodyId.isEmpty()) {
      return bodyId;
    }
    if (log == null) {
      return "<id_unknown>";
    }
    if (madeId.isEmpty()) {
      madeId = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }
    return madeId;
  }

  /** The request is done with. */
  void end() {
    if (log == null) {
      return;
    }
    if (client == null) {
      client = ClientAddress.text(exchange.connection().channel().socket());
    }
    ProtocolHead head = exchange.head();
    boolean read = head != null;
    String model = read ? head.route().model() : "";
    log.add(
        new AccessLog.Entry(
            start,
            client,
            exchange.connection().isOld() ? "HTTP/1.0" : "HTTP/1.1",
            read ? head.method() : NONE,
            read ? head.target() : NONE,
            exchange.status() == 0 ? Status.CLIENT_CLOSED.code() : exchange.status(),
            read ? exchange.receivedBytes() : 0,
            exchange.replyBytes(),
            (System.nanoTime() - startNs) / 1000,
            requestId(),
            model,
            model.isEmpty() ? 0 : Math.max(head.route().version(), version)));
  }
}
