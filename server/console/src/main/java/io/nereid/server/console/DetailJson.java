package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.Ensemble;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.server.shared.ModelFacts;
import io.nereid.types.NereidException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import tools.jackson.jr.ob.JSON;

/** Writes the description of a model, which changes only when it is loaded. */
final class DetailJson {

  private static final int MOST_LABELS = 1000;

  /** The prefix of configuration parameters that describe an input's elements. */
  private static final String MEDIA_PREFIX = "nereid.media.";

  private DetailJson() {}

  /**
   * Describes a version of a model.
   *
   * @param all its versions
   * @param examples the text of its examples; null: none
   */
  static ConsoleJson model(Model model, List<Model> all, String examples) {
    String reason = model.failure().orElse(null);
    ConsoleJson json =
        new ConsoleJson()
            .with("namespace", model.namespace())
            .with("name", model.name())
            .with("version", ModelFigures.version(model))
            .with(
                "versions",
                all.stream()
                    .filter(one -> one.state() == ModelState.READY)
                    .map(one -> Long.toString(one.version()))
                    .toList())
            .with("state", model.state().name())
            .with("reason", reason)
            .with("place", ConsoleJson.place(reason))
            .with("examples", examples)
            .with("notes", model.notes());
    try {
      json.putAll(loaded(model, model.spec()));
    } catch (NereidException | IllegalStateException e) {
      List<Object> none = List.of();
      json.with("backend", "").with("platform", "").with("max_batch_size", 0);
      json.with("decoupled", false).with("stateful", false).with("cached", false);
      json.with("inputs", none).with("outputs", none).with("instances", none).with("steps", none);
      json.with("load_us", null);
    }
    return json;
  }

  private static ConsoleJson loaded(Model model, ModelSpec spec) {
    return new ConsoleJson()
        .with("backend", spec.ensemble().isPresent() ? "ensemble" : spec.backendName())
        .with("platform", ModelFacts.platform(model))
        .with("max_batch_size", spec.maxBatchSize())
        .with("decoupled", spec.decoupled())
        .with("stateful", spec.sequenceBatching().isPresent())
        .with("cached", spec.responseCache())
        .with("inputs", spec.inputs().stream().map(tensor -> tensor(spec, tensor)).toList())
        .with("outputs", spec.outputs().stream().map(tensor -> tensor(spec, tensor)).toList())
        .with(
            "instances",
            spec.instanceGroups().stream()
                .map(group ->
                    new ConsoleJson()
                        .with("name", group.name())
                        .with("kind", group.kind().name())
                        .with("count", group.count())
                        .with("devices", group.devices()))
                .toList())
        .with(
            "steps",
            spec.ensemble().map(Ensemble::steps).orElse(List.of()).stream()
                .map(step ->
                    new ConsoleJson()
                        .with("model", step.model())
                        .with(
                            "version",
                            step.version().isPresent()
                                ? Long.toString(step.version().getAsLong())
                                : ""))
                .toList())
        .with("load_us", times(model.loadTimes()));
  }

  private static ConsoleJson times(LoadTimes times) {
    return new ConsoleJson()
        .with("read", us(times.read()))
        .with("parse", us(times.parse()))
        .with("session", us(times.session()))
        .with("warm_up", us(times.warmUp()))
        .with("total", us(times.total()));
  }

  private static long us(Duration time) {
    return time.toNanos() / 1000;
  }

  private static ConsoleJson tensor(ModelSpec model, TensorSpec tensor) {
    return new ConsoleJson()
        .with("name", tensor.name())
        .with("datatype", tensor.dataType().name())
        .with("shape", ModelFacts.shape(model, tensor))
        .with("optional", tensor.optional())
        .with("media", model.parameters().get(MEDIA_PREFIX + tensor.name()))
        .with("labels", tensor.labels().stream().limit(MOST_LABELS).toList());
  }

  /** The configuration that a model is served with, and where each value came from. */
  static ConsoleJson configuration(ModelConfiguration configuration) {
    return new ConsoleJson()
        .with("config", JSON.std.mapFrom(configuration.toJson()))
        .with("text", configuration.toCommentedText())
        .with(
            "values",
            configuration.values().stream()
                .map(value ->
                    new ConsoleJson()
                        .with("path", value.path())
                        .with("value", value.text())
                        .with("origin", value.origin().name().toLowerCase(Locale.ROOT))
                        .with("place", value.place()))
                .toList());
  }
}
