package io.nereid.server.http;

import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The logging extension. */
final class LoggingHandler {

  private final HttpContext context;

  LoggingHandler(HttpContext context) {
    this.context = context;
  }

  /** Writes the settings, after changing those that the body of a POST names. */
  void handle(RequestHead head, RequestBody body, JsonBuffer json) throws IOException {
    LogSettings log =
        context
            .state()
            .log()
            .orElseThrow(() ->
                new HttpFailure(
                    Status.NOT_IMPLEMENTED, "the log of this process is not the server's"));
    if (head.method().equals("POST")) {
      log.change(settings(body));
    }
    write(log, json);
  }

  private Map<String, Object> settings(RequestBody body) throws IOException {
    Map<String, Object> settings = new LinkedHashMap<>();
    JsonBody.read(
        context,
        body,
        (name, parser) -> {
          if (settings.put(name, value(parser)) != null) {
            throw HttpFailure.badRequest("expected every setting once, got one twice");
          }
        });
    return settings;
  }

  /** What the parser is at; what no setting can have is told by its kind. */
  private static Object value(JsonReader parser) {
    return switch (parser.token()) {
      case TRUE -> Boolean.TRUE;
      case FALSE -> Boolean.FALSE;
      case STRING -> parser.string();
      case INTEGER -> parser.isLong() ? (Object) parser.longValue() : parser.bigIntegerValue();
      case FRACTION -> parser.doubleValue();
      case NULL -> new Other("null");
      case ARRAY -> other(parser, "an array");
      default -> other(parser, "an object");
    };
  }

  private static Other other(JsonReader parser, String kind) {
    parser.skip();
    return new Other(kind);
  }

  /** A value that is of no use. */
  private record Other(String kind) {
    @Override
    public String toString() {
      return kind;
    }
  }

  private static void write(LogSettings log, JsonBuffer json) {
    LogValues values = log.values();
    json.ascii("{\"log_file\":").string(log.file().map(Path::toString).orElse(""));
    json.ascii(",\"log_info\":").ascii(Boolean.toString(values.info()));
    json.ascii(",\"log_warning\":").ascii(Boolean.toString(values.warning()));
    json.ascii(",\"log_error\":").ascii(Boolean.toString(values.error()));
    json.ascii(",\"log_verbose_level\":").number(values.verboseLevel());
    json.ascii(",\"log_format\":").string(values.format().wireName()).write('}');
  }
}
