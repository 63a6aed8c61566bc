package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.ModelSpec;
import io.nereid.ModelState;
import io.nereid.Nereid;
import io.nereid.TensorSpec;
import io.nereid.server.shared.ServerState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What the server, and a model, tell about themselves. */
final class MetadataJson {

  /** What this frontend has beyond the protocol itself, by the protocol's names. */
  static final List<String> EXTENSIONS =
      List.of(
          "binary_tensor_data",
          "classification",
          "model_configuration",
          "model_repository",
          "model_repository(unload_dependents)",
          "parameters",
          "schedule_policy",
          "statistics",
          "trace");

  private MetadataJson() {}

  /** Those that are always there, and those that were turned on. */
  private static List<String> extensions(ServerState state) {
    List<String> all = new ArrayList<>(EXTENSIONS);
    if (state.sharedMemory().isEnabled()) {
      all.add("system_shared_memory");
    }
    if (state.log().isPresent()) {
      all.add("logging");
    }
    return all;
  }

  static void server(ServerState state, JsonBuffer json) {
    // Absent where the classes do not come from the jar, as in an IDE.
    String version = MetadataJson.class.getPackage().getImplementationVersion();
    json.ascii("{\"name\":\"nereid\",\"version\":").string(version == null ? "dev" : version);
    json.ascii(",\"extensions\":");
    strings(extensions(state), json);
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
    strings(
        route.version() != 0
            ? List.of(Long.toString(route.version()))
            : nereid.models().stream()
                .filter(one -> one.name().equals(model.name()) && one.state() == ModelState.READY)
                .sorted((one, other) -> Long.compare(one.version(), other.version()))
                .map(one -> Long.toString(one.version()))
                .toList(),
        json);
    json.ascii(",\"platform\":").string(platform(model));
    boolean batches = spec.maxBatchSize() > 0;
    json.ascii(",\"inputs\":");
    tensors(spec.inputs(), batches, json);
    json.ascii(",\"outputs\":");
    tensors(spec.outputs(), batches, json);
    json.write('}');
  }

  /** What the configuration names, else what an ensemble is, else the backend. */
  private static String platform(Model model) {
    String configured = model.configuration().message().getPlatform();
    if (!configured.isEmpty()) {
      return configured;
    }
    ModelSpec spec = model.spec();
    return spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
  }

  private static void tensors(List<TensorSpec> specs, boolean batches, JsonBuffer json) {
    json.write('[');
    boolean first = true;
    for (TensorSpec spec : specs) {
      json.ascii(first ? "{\"name\":" : ",{\"name\":").string(spec.name());
      first = false;
      json.ascii(",\"datatype\":\"").ascii(spec.dataType().name()).ascii("\",\"shape\":[");
      boolean firstDim = true;
      if (batches) {
        json.number(-1);
        firstDim = false;
      }
      for (long dim : spec.dims()) {
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
