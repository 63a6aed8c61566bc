package io.nereid.server.http;

import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.AnswerCounts;
import io.nereid.server.shared.ClientAddress;
import io.nereid.server.shared.ConnectionFailures;
import io.nereid.server.shared.ServerState;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Collects the facts about a connection's requests, one after the other, counts their answers, and
 * writes lines to the access log, if there is one. Used by the connection's thread.
 */
final class RequestLog {

  private static final String NONE = "-";

  /**
   * The methods that are counted by their names; all others count as one, since clients can invent
   * names.
   */
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH");

  private final AccessLog log; // null: there is no access log
  private final HttpExchange exchange;
  private final Answers answers;
  private final ConnectionFailures failures;
  private String client; // null: not looked up yet
  private Instant start = Instant.EPOCH;
  private long startNs;
  private String madeId = "";
  private String bodyId = "";
  private long version;

  RequestLog(ServerState state, HttpExchange exchange) {
    log = state.accessLog().orElse(null);
    answers = new Answers(state.httpAnswers());
    failures = state.frontends().failures("http");
    this.exchange = exchange;
  }

  /** Begins a request. */
  void begin() {
    bodyId = "";
    version = 0;
    // reading the clock would cost more than the counting
    startNs = exchange.connection().readingSinceNs();
    if (log != null) {
      start = Instant.now();
      madeId = "";
    }
  }

  /** Sets the id that the body gives the request. */
  void id(String given) {
    bodyId = given;
  }

  /** Sets the version of the model that answers. */
  void version(long chosen) {
    version = chosen;
  }

  /** The id of the present request: the client's, or else one of this server. */
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

  /** Ends the present request. */
  void end() {
    long tookNs = System.nanoTime() - startNs;
    ProtocolHead head = exchange.head();
    int status = exchange.status() == 0 ? Status.CLIENT_CLOSED.code() : exchange.status();
    answers.add(
        head == null ? NONE : head.method(),
        head == null ? NONE : head.route().label(),
        status,
        tookNs);
    if (head == null && status == Status.REQUEST_TIMEOUT.code()) {
      failures.add(ConnectionFailures.Reason.TIMEOUT);
    }
    if (log == null) {
      return;
    }
    if (client == null) {
      client = ClientAddress.text(exchange.connection().channel().socket());
    }
    boolean read = head != null;
    String model = read ? head.route().model() : "";
    log.add(
        new AccessLog.Entry(
            start,
            client,
            exchange.connection().isOld() ? "HTTP/1.0" : "HTTP/1.1",
            read ? head.method() : NONE,
            read ? head.target() : NONE,
            status,
            read ? exchange.receivedBytes() : 0,
            exchange.replyBytes(),
            tookNs / 1000,
            requestId(),
            model,
            model.isEmpty() ? 0 : Math.max(head.route().version(), version)));
  }

  /** Counts the answers of one connection, most of which are of the kind of the last one. */
  static final class Answers {

    private final AnswerCounts counts;
    private AnswerCounts.Kind counted; // the kind of the last answer; null: there was none
    private AnswerCounts.Count count; // the counter of that kind
    private int lastStatus; // the status of that kind

    Answers(AnswerCounts counts) {
      this.counts = counts;
    }

    /** Counts an answer; if the head could not be read, method and route are a dash. */
    void add(String method, String route, int status, long tookNs) {
      AnswerCounts.Kind last = counted;
      if (last == null
          || lastStatus != status
          || !last.route().equals(route)
          || !last.method().equals(method)) {
        String known = method.equals(NONE) || METHODS.contains(method) ? method : "other";
        counted = new AnswerCounts.Kind(known, route, Integer.toString(status));
        count = counts.of(counted);
        lastStatus = status;
      }
      count.add(tookNs);
    }
  }
}
