package io.nereid.server.http;

import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The head of the only request of a stream of HTTP/2. */
final class StreamHead implements HeadSource {

  /** What HTTP/1.1 calls the pseudo-field of that purpose. */
  private static final String AUTHORITY = ":authority";

  private static final String HOST = "host";

  private static final byte[] CONTENT_LENGTH =
      "content-length".getBytes(StandardCharsets.ISO_8859_1);

  private final Http2Headers headers;
  private final boolean bodiless;
  private final KeptFields kept;
  private final String target;

  /**
   * With what was received.
   *
   * @param bodiless whether the request ends with its head
   */
  StreamHead(Http2Headers headers, boolean bodiless, KeptFields kept) {
    this.headers = headers;
    this.bodiless = bodiless;
    this.kept = kept;
    target = String.valueOf(headers.path());
  }

  @Override
  public RequestHead parse() {
    if (headers.method() == null || headers.path() == null) {
      throw RequestHeadParser.malformed("expected the fields :method and :path");
    }
    RequestHeadParser.checkTarget(target);
    Route route = Router.route(target);
    HeaderFields fields = new HeaderFields();
    for (Map.Entry<CharSequence, CharSequence> field : headers) {
      add(route, fields, field.getKey().toString(), field.getValue().toString());
    }
    if (fields.chunked()) {
      throw RequestHeadParser.malformed("Transfer-Encoding means nothing in HTTP/2");
    }
    if (bodiless && fields.contentLength() == RequestHead.ABSENT) {
      fields.add(CONTENT_LENGTH, 0, CONTENT_LENGTH.length, "0");
    }
    return new RequestHead(headers.method().toString(), route, fields);
  }

  private void add(Route route, HeaderFields fields, String field, String value) {
    String name = field.equals(AUTHORITY) ? HOST : field;
    if (name.startsWith(":")) {
      return;
    }
    byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
    RequestHeadParser.checkValue(bytes, 0, bytes.length);
    byte[] nameBytes = name.getBytes(StandardCharsets.ISO_8859_1);
    String stripped = value.strip();
    if (HeaderFields.isKnown(nameBytes, 0, nameBytes.length)) {
      fields.add(nameBytes, 0, nameBytes.length, stripped);
    }
    String keptName = kept.find(route.endpoint(), nameBytes, 0, nameBytes.length);
    if (keptName != null) {
      fields.keep(keptName, stripped);
    }
    String parameter = kept.findForwarded(nameBytes, 0, nameBytes.length);
    if (parameter != null) {
      fields.forward(parameter, stripped);
    }
  }

  @Override
  public String target() {
    return target;
  }

  @Override
  public String protocol() {
    return "HTTP/2";
  }

  @Override
  public boolean isHttp10() {
    return false;
  }
}
