package io.nereid.server.http;

import io.nereid.server.http.JsonReader.Token;
import io.nereid.server.trace.Tracing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The trace extension: which requests are traced. */
final class TraceHandler {

  /** The setting that may have several values, and is an array. */
  private static final String LEVEL = "trace_level";

  private final HttpContext context;

  TraceHandler(HttpContext context) {
    this.context = context;
  }

  /** Changes settings when the method says so, and writes those that hold. */
  void handle(RequestHead head, RequestBody body, JsonBuffer json) throws IOException {
    String model = head.route().model();
    if (!model.isEmpty() && !context.health().isReady(model, 0)) {
      throw HttpFailure.badRequest("Request for unknown model : " + model);
    }
    Tracing tracing = context.tracing();
    if (head.method().equals("POST")) {
      tracing.update(model, read(body));
    }
    write(tracing.settings(model), json);
  }

  private static void write(Map<String, List<String>> settings, JsonBuffer json) {
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

  /** Without values where there is a null. */
  private Map<String, List<String>> read(RequestBody body) throws IOException {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    JsonBody.read(
        context,
        body,
        (name, parser) -> {
          if (settings.put(name, values(name, parser)) != null) {
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
      return List.of(parser.string(name));
    }
    parser.expectArray(name);
    List<String> levels = new ArrayList<>();
    while (parser.next() != Token.END_ARRAY) {
      levels.add(parser.string(name));
    }
    if (levels.isEmpty()) {
      throw HttpFailure.badRequest("expected a level in '" + name + "', got an empty array");
    }
    return levels;
  }
}
