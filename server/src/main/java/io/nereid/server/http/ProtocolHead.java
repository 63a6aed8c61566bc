package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpPrologue;
import io.helidon.http.ServerRequestHeaders;
import io.helidon.webserver.http.ServerRequest;
import io.nereid.server.shared.HeaderForwarding;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The head of a request: the endpoint of its path, and the relevant fields. Made by the thread that
 * serves the request.
 */
final class ProtocolHead {

  /** The longest request id that is accepted and sent back. */
  static final int MAX_REQUEST_ID_LENGTH = 128;

  private static final HeaderName JSON_LENGTH =
      HeaderNames.create("Inference-Header-Content-Length");
  private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");
  private static final HeaderName TRACESTATE = HeaderNames.create("tracestate");
  private static final HeaderName REQUEST_ID = HeaderNames.create("X-Request-Id");
  private static final HeaderName LOAD_FORMAT = HeaderNames.create("endpoint-load-metrics-format");

  private final HttpPrologue prologue;
  private final ServerRequestHeaders fields;
  private final Route route;
  private final Optional<HeaderForwarding> forwarding;

  /** Reads the head of a request that Helidon has matched with an endpoint. */
  ProtocolHead(ServerRequest request, Endpoint endpoint, Optional<HeaderForwarding> forwarding) {
    prologue = request.prologue();
    fields = request.headers();
    route = isPlain(path()) ? Route.of(endpoint, request.path()) : Route.of(Endpoint.UNKNOWN);
    this.forwarding = forwarding;
  }

  /**
   * True if Helidon has matched the path as it was sent. Helidon removes dots between slashes,
   * doubled slashes and text behind semicolons; a proxy with rules for paths may not, and would be
   * bypassed.
   */
  private static boolean isPlain(String path) {
    if (!path.startsWith("/") || path.indexOf(';') >= 0 || path.contains("//")) {
      return false;
    }
    if (path.contains("/./") || path.contains("/../")) {
      return false;
    }
    if (path.endsWith("/.") || path.endsWith("/..")) {
      return false;
    }
    return path.indexOf('%') < 0 || !path.toLowerCase(Locale.ROOT).contains("%2f");
  }

  /** The endpoint and the names that the path leads to. */
  Route route() {
    return route;
  }

  /** The method as it was sent. */
  String method() {
    return prologue.method().text();
  }

  /** True if only the head of the reply is wanted. */
  boolean isHeadMethod() {
    return method().equals("HEAD");
  }

  /** The path as it was sent. */
  String path() {
    return prologue.uriPath().rawPath();
  }

  /** The path as it was sent, with its query. */
  String target() {
    String query = prologue.query().rawValue();
    return query.isEmpty() ? path() : path() + "?" + query;
  }

  /** The value of Content-Encoding; empty when it is absent. */
  String contentEncoding() {
    return joined(HeaderNames.CONTENT_ENCODING, "");
  }

  /** The value of Accept-Encoding; empty when it is absent. */
  String acceptEncoding() {
    return joined(HeaderNames.ACCEPT_ENCODING, "");
  }

  /** The value of Inference-Header-Content-Length; null when it is absent. */
  String inferenceHeaderLength() {
    if (!fields.contains(JSON_LENGTH)) {
      return null;
    }
    List<String> values = fields.get(JSON_LENGTH).allValues();
    for (String other : values) {
      if (!other.equals(values.getFirst())) {
        throw HttpFailure.closing(
            Status.BAD_REQUEST,
            "expected one Inference-Header-Content-Length, got %s and %s"
                .formatted(values.getFirst(), other));
      }
    }
    return values.getFirst();
  }

  /** The parent of W3C's Trace Context; null when it is absent, empty when it came twice. */
  String traceparent() {
    if (!fields.contains(TRACEPARENT)) {
      return null;
    }
    List<String> values = fields.get(TRACEPARENT).allValues();
    return values.size() == 1 ? values.getFirst() : "";
  }

  String tracestate() {
    return joined(TRACESTATE, null);
  }

  /** The value of X-Request-Id; null when it is absent, or not fit to be sent back. */
  String requestId() {
    String value = joined(REQUEST_ID, "");
    return !value.isEmpty()
            && value.length() <= MAX_REQUEST_ID_LENGTH
            && value.chars().allMatch(c -> c > ' ' && c < 0x7f)
        ? value
        : null;
  }

  /** The format in which the reply is to tell the server's load; null: not at all. */
  String loadFormat() {
    return joined(LOAD_FORMAT, null);
  }

  /** The value of a field, by its name in lower case; null when it is absent. */
  String field(String name) {
    return joined(HeaderNames.createFromLowercase(name), null);
  }

  /** Returns the fields of a name, joined into one. */
  private String joined(HeaderName name, String otherwise) {
    if (!fields.contains(name)) {
      return otherwise;
    }
    Header field = fields.get(name);
    return field.valueCount() == 1 ? field.get() : String.join(",", field.allValues());
  }

  /** The fields that become parameters, in their order. */
  List<HeaderForwarding.Field> forwarded() {
    if (forwarding.isEmpty()) {
      return List.of();
    }
    List<HeaderForwarding.Field> forwarded = new ArrayList<>();
    for (Header field : fields) {
      String name = field.headerName().defaultCase();
      if (forwarding.get().matches(name)) {
        field.allValues().forEach(value -> forwarded.add(new HeaderForwarding.Field(name, value)));
      }
    }
    return forwarded;
  }
}
