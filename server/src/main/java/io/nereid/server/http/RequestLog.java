package io.nereid.server.http;

import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.ClientAddress;
import java.nio.channels.SocketChannel;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** Times the requests of a connection, one after the other, for the access log. */
final class RequestLog {

  private static final String NONE = "-";

  private final AccessLog log;
  private final String client;
  private Instant start = Instant.EPOCH;
  private long startNs;
  private String madeId = "";

  private RequestLog(AccessLog log, String client) {
    this.log = log;
    this.client = client;
  }

  /** Null when there is no access log. */
  static RequestLog of(Optional<AccessLog> log, SocketChannel channel) {
    return log.map(kept -> new RequestLog(kept, ClientAddress.text(channel))).orElse(null);
  }

  /** A request begins. */
  void begin() {
    start = Instant.now();
    startNs = System.nanoTime();
    madeId = "";
  }

  /** A name for the request, whose client has none for it. */
  String madeId() {
    if (madeId.isEmpty()) {
      madeId = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }
    return madeId;
  }

  /**
   * The request is done with.
   *
   * @param head null when it could not be read
   * @param inputBytes bytes of its body that came
   */
  void end(
      RequestHead head,
      HeadSource heads,
      long inputBytes,
      ConnectionOutput output,
      RequestFacts facts,
      String requestId) {
    boolean read = head != null;
    String model = read ? head.route().model() : "";
    long version = model.isEmpty() ? 0 : Math.max(head.route().version(), facts.version());
    log.add(
        new AccessLog.Entry(
            start,
            client,
            heads.protocol(),
            read ? head.method() : NONE,
            read ? heads.target() : NONE,
            output.hasBegun() ? output.status().code() : Status.CLIENT_CLOSED.code(),
            read ? inputBytes : 0,
            output.hasBegun() && !(read && head.isHeadMethod()) ? output.bodyBytes() : 0,
            (System.nanoTime() - startNs) / 1000,
            requestId,
            model,
            version));
  }
}
