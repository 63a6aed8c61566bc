package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes the metadata, configurations and statistics of the server and its models. */
final class MetadataJson {

  private MetadataJson() {}

  static void server(ServerState state, JsonBuffer json) {
    json.ascii("{\"name\":").string(state.name());
    json.ascii(",\"version\":").string(ServerFacts.version());
    json.ascii(",\"extensions\":");
    strings(ServerFacts.extensions(state), json);
    json.write('}');
  }

  static void models(List<Model> models, JsonBuffer json) {
    json.ascii("{\"models\":");
    strings(
        models.stream()
            .filter(model -> model.state() == ModelState.READY)
            .map(Model::name)
            .distinct()
            .toList(),
        json);
    json.write('}');
  }

  static void model(Nereid nereid, Model model, Route route, JsonBuffer json) {
    utf8(model.metadataJson(ModelFacts.versions(nereid, model, route.version())), json);
  }

  static void configuration(Model model, JsonBuffer json) {
    utf8(model.configuration().toJson(), json);
  }

  private static void utf8(String document, JsonBuffer json) {
    byte[] text = document.getBytes(StandardCharsets.UTF_8);
    json.write(text, 0, text.length);
  }

  private static void strings(List<String> values, JsonBuffer json) {
    json.write('[');
    for (int i = 0; i < values.size(); i++) {
      if (i > 0) {
        json.write(',');
      }
      json.string(values.get(i));
    }
    json.write(']');
  }

  /** Writes the statistics of these models. */
  static void statistics(List<Model> models, JsonBuffer json) {
    json.ascii("{\"model_stats\":[");
    boolean first = true;
    for (Model model : models) {
      if (!first) {
        json.write(',');
      }
      first = false;
      utf8(model.statisticsJson(), json);
    }
    json.ascii("]}");
  }
}
