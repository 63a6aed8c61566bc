package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What the server, and a model, tell about themselves. */
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
    ModelSpec spec = model.spec();
    json.ascii("{\"name\":").string(model.name()).ascii(",\"versions\":");
    strings(ModelFacts.versions(nereid, model, route.version()), json);
    json.ascii(",\"platform\":").string(ModelFacts.platform(model));
    json.ascii(",\"inputs\":");
    tensors(spec, spec.inputs(), json);
    json.ascii(",\"outputs\":");
    tensors(spec, spec.outputs(), json);
    json.write('}');
  }

  private static void tensors(ModelSpec model, List<TensorSpec> specs, JsonBuffer json) {
    json.write('[');
    boolean first = true;
    for (TensorSpec spec : specs) {
      json.ascii(first ? "{\"name\":" : ",{\"name\":").string(spec.name());
      first = false;
      json.ascii(",\"datatype\":\"").ascii(spec.dataType().name()).ascii("\",\"shape\":[");
      boolean firstDim = true;
      for (long dim : ModelFacts.shape(model, spec)) {
        if (!firstDim) {
          json.write(',');
        }
        firstDim = false;
        json.number(dim);
      }
      json.ascii("]}");
    }
    json.write(']');
  }

  static void configuration(Model model, JsonBuffer json) {
    byte[] text = model.configuration().toJson().getBytes(StandardCharsets.UTF_8);
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
}
