package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.Ensemble;
import io.nereid.model.InstanceGroup;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.ModelFacts;
import io.nereid.types.NereidException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Writes what a model is, which changes only when it is loaded. */
final class DetailJson {

  private static final int MOST_LABELS = 1000;

  /** The parameter of a configuration that says what an input's elements are. */
  private static final String MEDIA_PREFIX = "nereid.media.";

  private DetailJson() {}

  /**
   * Writes a version of a model.
   *
   * @param all its versions
   * @param examples the text of its examples; null: it has none
   */
  static void model(Model model, List<Model> all, String examples, JsonBuffer json) {
    json.ascii("{\"namespace\":").string(model.namespace());
    json.ascii(",\"name\":").string(model.name());
    json.ascii(",\"version\":\"");
    if (model.version() > 0) {
      json.number(model.version());
    }
    json.ascii("\",\"versions\":");
    List<Model> ready = all.stream().filter(one -> one.state() == ModelState.READY).toList();
    ConsoleJson.array(json, ready, one -> json.string(Long.toString(one.version())));
    String reason = model.failure().orElse(null);
    json.ascii(",\"state\":\"").ascii(model.state().name());
    ConsoleJson.text(json.ascii("\",\"reason\":"), reason);
    ConsoleJson.place(json.ascii(",\"place\":"), reason);
    ConsoleJson.text(json.ascii(",\"examples\":"), examples);
    json.ascii(",\"notes\":");
    ConsoleJson.array(json, model.notes(), json::string);
    try {
      loaded(model, model.spec(), json);
    } catch (NereidException | IllegalStateException e) {
      json.ascii(
          ",\"backend\":\"\",\"platform\":\"\",\"max_batch_size\":0,\"decoupled\":false,"
              + "\"stateful\":false,\"cached\":false,\"inputs\":[],\"outputs\":[],"
              + "\"instances\":[],\"steps\":[],\"load_us\":null}");
    }
  }

  private static void loaded(Model model, ModelSpec spec, JsonBuffer json) {
    LoadTimes times = model.loadTimes();
    String backend = spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
    json.ascii(",\"backend\":").string(backend);
    json.ascii(",\"platform\":").string(ModelFacts.platform(model));
    json.ascii(",\"max_batch_size\":").number(spec.maxBatchSize());
    ConsoleJson.bool(json.ascii(",\"decoupled\":"), spec.decoupled());
    ConsoleJson.bool(json.ascii(",\"stateful\":"), spec.sequenceBatching().isPresent());
    ConsoleJson.bool(json.ascii(",\"cached\":"), spec.responseCache());
    json.ascii(",\"inputs\":");
    ConsoleJson.array(json, spec.inputs(), tensor -> tensor(spec, tensor, json));
    json.ascii(",\"outputs\":");
    ConsoleJson.array(json, spec.outputs(), tensor -> tensor(spec, tensor, json));
    json.ascii(",\"instances\":");
    ConsoleJson.array(json, spec.instanceGroups(), group -> group(group, json));
    json.ascii(",\"steps\":");
    List<Ensemble.Step> steps = spec.ensemble().map(Ensemble::steps).orElse(List.of());
    ConsoleJson.array(json, steps, step -> step(step, json));
    us(json.ascii(",\"load_us\":{\"read\":"), times.read());
    us(json.ascii(",\"parse\":"), times.parse());
    us(json.ascii(",\"session\":"), times.session());
    us(json.ascii(",\"warm_up\":"), times.warmUp());
    us(json.ascii(",\"total\":"), times.total()).ascii("}}");
  }

  private static JsonBuffer us(JsonBuffer json, Duration time) {
    return json.number(time.toNanos() / 1000);
  }

  private static void tensor(ModelSpec model, TensorSpec tensor, JsonBuffer json) {
    json.ascii("{\"name\":").string(tensor.name());
    json.ascii(",\"datatype\":\"").ascii(tensor.dataType().name());
    json.ascii("\",\"shape\":");
    ConsoleJson.array(json, ModelFacts.shape(model, tensor), json::number);
    ConsoleJson.bool(json.ascii(",\"optional\":"), tensor.optional());
    String media = model.parameters().get(MEDIA_PREFIX + tensor.name());
    ConsoleJson.text(json.ascii(",\"media\":"), media);
    json.ascii(",\"labels\":");
    List<String> labels = tensor.labels();
    ConsoleJson.array(json, labels.subList(0, Math.min(MOST_LABELS, labels.size())), json::string);
    json.write('}');
  }

  private static void group(InstanceGroup group, JsonBuffer json) {
    json.ascii("{\"name\":").string(group.name());
    json.ascii(",\"kind\":\"").ascii(group.kind().name());
    json.ascii("\",\"count\":").number(group.count()).ascii(",\"devices\":");
    ConsoleJson.array(json, group.devices(), json::number);
    json.write('}');
  }

  private static void step(Ensemble.Step step, JsonBuffer json) {
    json.ascii("{\"model\":").string(step.model());
    json.ascii(",\"version\":\"");
    if (step.version().isPresent()) {
      json.number(step.version().getAsLong());
    }
    json.ascii("\"}");
  }

  /** Writes the configuration that a model is served with, and where each value came from. */
  static void configuration(ModelConfiguration configuration, JsonBuffer json) {
    byte[] config = configuration.toJson().getBytes(StandardCharsets.UTF_8);
    json.ascii("{\"config\":").write(config, 0, config.length);
    json.ascii(",\"text\":").string(configuration.toCommentedText());
    json.ascii(",\"values\":");
    ConsoleJson.array(json, configuration.values(), value -> value(value, json));
    json.write('}');
  }

  private static void value(ModelConfiguration.Value value, JsonBuffer json) {
    json.ascii("{\"path\":").string(value.path());
    json.ascii(",\"value\":").string(value.text());
    json.ascii(",\"origin\":\"").ascii(value.origin().name().toLowerCase(Locale.ROOT));
    json.ascii("\",\"place\":").string(value.place()).write('}');
  }
}
