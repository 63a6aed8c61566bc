package io.nereid.perf;

import io.nereid.perf.InputData.Step;
import io.nereid.perf.InputData.Tensor;
import io.nereid.perf.ModelInfo.TensorInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * Reads inputs from a file of JSON in perf_analyzer's form: {@code {"data": [{"INPUT": [1, 2]},
 * ...]}}, where a list of lists is a list of sequences. A value may also be {@code {"content":
 * [...], "shape": [...]}} or {@code {"b64": "..."}}.
 */
final class JsonInputs {

  private final Path file;
  private final ModelInfo model;
  private final InputShapes shapes;

  private JsonInputs(Path file, ModelInfo model, InputShapes shapes) {
    this.file = file;
    this.model = model;
    this.shapes = shapes;
  }

  static InputData read(Path file, ModelInfo model, InputShapes shapes) throws IOException {
    if (!Files.exists(file)) {
      throw new PerfException(
          "expected random, zero, a file of JSON or a directory as input data, got '"
              + file
              + "', which does not exist");
    }
    Map<String, Object> json;
    try {
      json = JSON.std.mapFrom(Files.readString(file));
    } catch (JacksonException e) {
      throw new PerfException(file + " is no JSON: " + e.getOriginalMessage(), e);
    }
    return new JsonInputs(file, model, shapes).data(json.get("data"));
  }

  private InputData data(Object data) {
    if (!(data instanceof List<?> list) || list.isEmpty()) {
      throw new PerfException(
          "expected {\"data\": [{\"INPUT\": [...]}, ...]} in " + file + ", got no such list");
    }
    boolean nested = list.get(0) instanceof List<?>;
    List<List<Step>> sequences = new ArrayList<>();
    List<Step> plain = new ArrayList<>();
    for (Object element : list) {
      if (nested && element instanceof List<?> steps && !steps.isEmpty()) {
        sequences.add(steps.stream().map(this::step).toList());
      } else if (nested) {
        throw new PerfException("expected lists of steps only in " + file + ", got " + element);
      } else {
        plain.add(step(element));
      }
    }
    return nested ? new InputData(sequences, true) : new InputData(List.of(plain), false);
  }

  private Step step(Object element) {
    if (!(element instanceof Map<?, ?> values)) {
      throw new PerfException(
          "expected an object for each request in " + file + ", got " + element);
    }
    for (Object name : values.keySet()) {
      if (model.inputs().stream().noneMatch(input -> input.name().equals(name))) {
        throw new PerfException(
            "expected inputs of model '%s' in %s, which has %s, got '%s'"
                .formatted(
                    model.name(),
                    file,
                    model.inputs().stream().map(TensorInfo::name).toList(),
                    name));
      }
    }
    List<Tensor> tensors = new ArrayList<>();
    for (TensorInfo input : model.inputs()) {
      Object value = values.get(input.name());
      if (value != null) {
        tensors.add(tensor(input, value));
      } else if (!model.optionalInputs().contains(input.name())) {
        throw new PerfException("there is no input '" + input.name() + "' in a request of " + file);
      }
    }
    return new Step(tensors);
  }

  private Tensor tensor(TensorInfo input, Object value) {
    InputShapes own = shapes;
    Object content = value;
    if (value instanceof Map<?, ?> members) {
      if (members.get("shape") instanceof List<?> shape) {
        Map<String, List<Long>> given = new HashMap<>(shapes.given());
        given.put(input.name(), shape.stream().map(dim -> ((Number) dim).longValue()).toList());
        own = new InputShapes(given, shapes.batchSize());
      }
      if (members.get("b64") instanceof String encoded) {
        byte[] bytes = Base64.getDecoder().decode(encoded);
        return InputData.raw(model, own, input, bytes, "in " + file);
      }
      content = members.get("content");
    }
    List<Object> flat = new ArrayList<>();
    flatten(content, flat);
    return InputData.raw(model, own, input, ElementCodec.bytes(input, flat), "in " + file);
  }

  private static void flatten(Object value, List<Object> into) {
    if (value instanceof List<?> list) {
      list.forEach(element -> flatten(element, into));
    } else {
      into.add(value);
    }
  }
}
