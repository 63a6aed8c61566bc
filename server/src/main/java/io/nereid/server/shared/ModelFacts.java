package io.nereid.server.shared;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;

/** The facts about models that all protocols answer: platform, versions, shapes, statistics. */
public final class ModelFacts {

  private ModelFacts() {}

  /** The platform that the configuration names, else the one of an ensemble, else the backend. */
  public static String platform(Model model) {
    String configured = model.configuration().platform();
    if (!configured.isEmpty()) {
      return configured;
    }
    ModelSpec spec = model.spec();
    return spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
  }

  /** The versions that take requests, ascending; only the requested one, unless that is 0. */
  public static List<String> versions(Nereid nereid, Model model, long asked) {
    if (asked != 0) {
      return List.of(Long.toString(asked));
    }
    return nereid.models().stream()
        .filter(one -> one.name().equals(model.name()) && one.state() == ModelState.READY)
        .sorted((one, other) -> Long.compare(one.version(), other.version()))
        .map(one -> Long.toString(one.version()))
        .toList();
  }

  /** A tensor's shape in requests: with the batch dimension, if there is one. */
  public static List<Long> shape(ModelSpec model, TensorSpec tensor) {
    if (model.maxBatchSize() == 0) {
      return tensor.dims();
    }
    List<Long> shape = new ArrayList<>(tensor.dims().size() + 1);
    shape.add(-1L);
    shape.addAll(tensor.dims());
    return shape;
  }

  /** All models that take requests and so have statistics. */
  public static List<Model> withStatistics(Nereid nereid) {
    return nereid.models().stream().filter(model -> model.state() == ModelState.READY).toList();
  }

  /** The versions of one such model; version 0 means all. */
  public static List<Model> withStatistics(Nereid nereid, String name, long version) {
    List<Model> models =
        withStatistics(nereid).stream()
            .filter(
                model -> model.name().equals(name) && (version == 0 || model.version() == version))
            .toList();
    if (models.isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "requested model '%s%s is not available"
              .formatted(name, version == 0 ? "'" : "' version " + version));
    }
    return models;
  }
}
