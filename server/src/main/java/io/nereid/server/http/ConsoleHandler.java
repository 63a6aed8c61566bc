package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.nereid.server.http.seam.ClientGoneException;
import io.nereid.server.json.JsonBuffer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** Serves the console's pages and the documents that they load, for one exchange. */
final class ConsoleHandler {

  /** Header fields that isolate the console's pages from other sites. */
  static final List<Header> SAFETY =
      List.of(
          HeaderValues.createCached(
              "Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
                  + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors"
                  + " 'none'"),
          HeaderValues.createCached("X-Content-Type-Options", "nosniff"),
          HeaderValues.createCached("X-Frame-Options", "DENY"),
          HeaderValues.createCached("Referrer-Policy", "no-referrer"),
          HeaderValues.createCached("Cross-Origin-Opener-Policy", "same-origin"));

  private static final Header CACHE = HeaderValues.createCached("Cache-Control", "no-cache");
  private static final Header NO_STORE = HeaderValues.createCached("Cache-Control", "no-store");
  private static final HeaderName TYPE = HeaderNames.CONTENT_TYPE;
  private static final HeaderName TAG = HeaderNames.ETAG;
  private static final Header GZIP = HeaderValues.createCached("Content-Encoding", "gzip");
  private static final Header VARY = HeaderValues.createCached("Vary", "Accept-Encoding");
  private static final HeaderName LOCATION = HeaderNames.LOCATION;

  private final ConsoleProvider.Pages console; // null: no console
  private final HttpContext context;
  private final HttpExchange exchange;

  ConsoleHandler(HttpContext context, HttpExchange exchange) {
    this.context = context;
    this.exchange = exchange;
    console = context.console().orElse(null);
  }

  /** Answers with a file, or writes the JSON of a reply; true: the reply is still to be sent. */
  boolean answer(ProtocolHead head, JsonBuffer json, RequestInHand handler) throws IOException {
    Route route = head.route();
    switch (route.endpoint()) {
      case CONSOLE_FILE -> {
        file(head, route.name(), json);
        return false;
      }
      case CONSOLE_OVERVIEW -> stream(console.overview(), json, handler);
      case CONSOLE_MODEL_EVENTS ->
          stream(console.model(route.model(), route.version()), json, handler);
      case CONSOLE_REQUEST_EVENTS -> stream(console.requests(), json, handler);
      default -> {
        byte[] document = document(head);
        json.write(document, 0, document.length);
        SAFETY.forEach(exchange::field);
        exchange.field(NO_STORE);
        return true;
      }
    }
    return false;
  }

  private byte[] document(ProtocolHead head) {
    Route route = head.route();
    return switch (route.endpoint()) {
      case CONSOLE_ABOUT -> console.about(context.access(), head::field);
      case CONSOLE_MODEL -> console.details(route.model(), route.version());
      case CONSOLE_CONFIGURATION -> console.configuration(route.model(), route.version());
      case CONSOLE_RELOAD -> console.reload(route.model(), route.version());
      case CONSOLE_HISTORY -> console.history(route.model(), route.version());
      case CONSOLE_REQUESTS -> console.slowRequests();
      case OPENAPI -> console.openApi();
      case OPENAPI_MODEL -> console.openApi(route.model());
      default -> throw new IllegalStateException(route + " is not served here");
    };
  }

  // ---- Files -----------------------------------------------------------------------------------

  private void file(ProtocolHead head, String name, JsonBuffer json) throws IOException {
    if (name.isEmpty()) {
      SAFETY.forEach(exchange::field);
      exchange.field(LOCATION, console.path());
      exchange.send(Status.PERMANENT_REDIRECT, json, List.of());
      return;
    }
    ConsoleProvider.Content file =
        console.file(name).orElseThrow(() -> context.notFound(head.path()));
    SAFETY.forEach(exchange::field);
    exchange.field(TYPE, file.type());
    exchange.field(CACHE);
    exchange.field(VARY);
    boolean zipped = ContentCoding.preferred(head.acceptEncoding()) == ContentCoding.GZIP;
    String tag = zipped ? file.tag().replaceFirst("\"$", "-gzip\"") : file.tag();
    exchange.field(TAG, tag);
    if (zipped) {
      exchange.field(GZIP);
    }
    byte[] bytes = zipped ? file.zipped() : file.plain();
    json.write(bytes, 0, bytes.length);
    String known = head.field("if-none-match");
    exchange.send(isAmong(tag, known) ? Status.NOT_MODIFIED : Status.OK, json, List.of());
  }

  /** True if the tag is among those of a field, which may be null. */
  private static boolean isAmong(String tag, String tags) {
    return tags != null && Arrays.stream(tags.split(",")).map(String::strip).anyMatch(tag::equals);
  }

  // ---- Events ----------------------------------------------------------------------------------

  private void stream(ConsoleProvider.Events opened, JsonBuffer json, RequestInHand handler)
      throws IOException {
    try (ConsoleProvider.Events events = opened) {
      SAFETY.forEach(exchange::field);
      exchange.field(NO_STORE);
      handler.beginEvents(Status.OK);
      if (exchange.head().isHeadMethod()) {
        return;
      }
      byte[] event = next(events);
      while (event != null) {
        if (event.length > 0) {
          send(event, json);
        }
        event = next(events);
      }
      boolean stopping = context.health().isStopping();
      send(console.end(stopping ? "the server stops" : "the model has gone"), json);
    }
  }

  private byte[] next(ConsoleProvider.Events events) throws IOException {
    exchange.connection().resting(events::wake);
    try {
      return events.next();
    } catch (InterruptedException e) {
      throw new ClientGoneException(); // the server is stopping
    } finally {
      exchange.connection().answered();
      if (exchange.clientGone()) {
        throw new ClientGoneException();
      }
    }
  }

  private void send(byte[] event, JsonBuffer json) throws IOException {
    json.clear();
    json.write(event, 0, event.length);
    exchange.sendPart(json);
    json.clear();
  }
}
