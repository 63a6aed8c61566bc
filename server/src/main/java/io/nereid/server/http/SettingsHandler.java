package io.nereid.server.http;

import io.nereid.recording.Recorder;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.RecordingSwitch;
import io.nereid.server.trace.Tracing;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The trace and logging extensions, and recordings: settings that clients read and change while the
 * server runs.
 */
final class SettingsHandler {

  /** The setting of traces that may have several values and so is an array. */
  private static final String LEVEL = "trace_level";

  private final HttpContext context;

  SettingsHandler(HttpContext context) {
    this.context = context;
  }

  // ---- Traces ----------------------------------------------------------------------------------

  /** Changes settings for a POST, and writes the current ones. */
  void trace(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    String model = head.route().model();
    if (!model.isEmpty() && !context.health().isReady(model, 0)) {
      throw HttpFailure.badRequest("Request for unknown model : " + model);
    }
    Tracing tracing = context.tracing();
    if (head.method().equals("POST")) {
      tracing.update(model, readTrace(body));
    }
    writeTrace(tracing.settings(model), json);
  }

  private static void writeTrace(Map<String, List<String>> settings, JsonBuffer json) {
    json.write('{');
    boolean first = true;
    for (Map.Entry<String, List<String>> setting : settings.entrySet()) {
      if (!first) {
        json.write(',');
      }
      first = false;
      json.string(setting.getKey()).write(':');
      boolean array = setting.getKey().equals(LEVEL);
      if (array) {
        json.write('[');
      }
      for (int i = 0; i < setting.getValue().size(); i++) {
        if (i > 0) {
          json.write(',');
        }
        json.string(setting.getValue().get(i));
      }
      if (array) {
        json.write(']');
      }
    }
    json.write('}');
  }

  /** Reads settings; null becomes an empty list. */
  private Map<String, List<String>> readTrace(RequestBody body) throws IOException {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    context.readObject(
        body,
        (name, parser) -> {
          List<String> values = values(name, parser);
          Tracing.check(name, values);
          if (settings.put(name, values) != null) {
            throw HttpFailure.badRequest("expected '" + name + "' once, got it twice");
          }
        });
    return settings;
  }

  private static List<String> values(String name, JsonReader parser) {
    if (parser.token() == Token.NULL) {
      return List.of();
    }
    if (!name.equals(LEVEL)) {
      return List.of(parser.name(name));
    }
    parser.expectArray(name);
    List<String> levels = new ArrayList<>();
    while (parser.next() != Token.END_ARRAY) {
      String level = parser.name(name);
      RequestParameters.charge(parser, level);
      levels.add(level);
    }
    if (levels.isEmpty()) {
      throw HttpFailure.badRequest("expected a level in '" + name + "', got an empty array");
    }
    return levels;
  }

  // ---- Recordings ------------------------------------------------------------------------------

  /**
   * Begins or ends a recording when the body of a POST says so, and writes the state of recording.
   */
  void recording(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    RecordingSwitch recording = context.state().recording();
    if (head.method().equals("POST")) {
      Map<String, Object> wanted = read(body, SettingsHandler::checkRecording);
      if (wanted.isEmpty()) {
        throw noRecording("nothing");
      }
      if (wanted.containsValue(true)) {
        recording.start();
      } else {
        recording.stop();
      }
    }
    Recorder.Statistics figures = recording.statistics();
    json.ascii("{\"recording\":").ascii(Boolean.toString(recording.isOn()));
    json.ascii(",\"recorded\":").number(figures.recorded());
    json.ascii(",\"dropped\":").number(figures.dropped());
    json.ascii(",\"written_bytes\":").number(figures.writtenBytes()).write('}');
  }

  private static void checkRecording(String name, Object value) {
    if (!name.equals("recording") || !(value instanceof Boolean)) {
      throw noRecording("'" + name + "'");
    }
  }

  private static HttpFailure noRecording(String got) {
    return HttpFailure.badRequest(
        "expected {\"recording\":true} or {\"recording\":false}, got " + got);
  }

  // ---- The log ---------------------------------------------------------------------------------

  /** Writes the settings, after changing those that the body of a POST names. */
  void logging(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    LogSettings log =
        context
            .state()
            .log()
            .orElseThrow(() ->
                new HttpFailure(
                    Status.NOT_IMPLEMENTED, "the log of this process is not the server's"));
    if (head.method().equals("POST")) {
      log.change(read(body, LogSettings::check));
    }
    writeLog(log, json);
  }

  /** Reads settings; {@code check} throws at once for one that does not exist. */
  private Map<String, Object> read(RequestBody body, BiConsumer<String, Object> check)
      throws IOException {
    Map<String, Object> settings = new LinkedHashMap<>();
    context.readObject(
        body,
        (name, parser) -> {
          Object value = value(parser);
          check.accept(name, value);
          if (settings.put(name, value) != null) {
            throw HttpFailure.badRequest("expected '" + name + "' once, got it twice");
          }
        });
    return settings;
  }

  /** The parser's present value; {@link Other} if no setting can have it. */
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

  /** A value of a kind that no setting has. */
  private record Other(String kind) {
    @Override
    public String toString() {
      return kind;
    }
  }

  private static void writeLog(LogSettings log, JsonBuffer json) {
    LogValues values = log.values();
    json.ascii("{\"log_file\":").string(log.file().map(Path::toString).orElse(""));
    json.ascii(",\"log_info\":").ascii(Boolean.toString(values.info()));
    json.ascii(",\"log_warning\":").ascii(Boolean.toString(values.warning()));
    json.ascii(",\"log_error\":").ascii(Boolean.toString(values.error()));
    json.ascii(",\"log_verbose_level\":").number(values.verboseLevel());
    json.ascii(",\"log_format\":").string(values.format().wireName()).write('}');
  }
}
