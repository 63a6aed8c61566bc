package io.nereid.server.console;

import static io.nereid.server.console.OpenApi.array;
import static io.nereid.server.console.OpenApi.json;
import static io.nereid.server.console.OpenApi.map;
import static io.nereid.server.console.OpenApi.object;
import static io.nereid.server.console.OpenApi.ref;
import static io.nereid.server.console.OpenApi.type;

import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Describes one model with its inputs and outputs, by OpenAPI 3.1. */
final class OpenApiModel {

  /** An example of more elements says nothing more. */
  private static final int MOST_ELEMENTS = 1024;

  private OpenApiModel() {}

  /** The document, in UTF-8. */
  static byte[] of(ServerState state, Model model) {
    ModelSpec spec = model.spec();
    Map<String, Object> schemas = OpenApi.tensorSchemas();
    schemas.put("Request", request(spec));
    schemas.put("Response", response(spec));
    String path = "/v2/models/" + segment(model.name());
    Map<String, Object> paths = new LinkedHashMap<>();
    get(paths, path, "What the model is");
    get(paths, path + "/config", "Its configuration");
    get(paths, path + "/stats", "What it did");
    if (spec.decoupled()) {
      Map<String, Object> events = map("text/event-stream", map("schema", type("string")));
      post(paths, path + "/generate_stream", "Run it", generated(spec), events);
    } else {
      post(paths, path + "/infer", "Run it", ref("Request"), json(ref("Response")));
      post(paths, path + "/generate", "Run it", generated(spec), json(type("object")));
    }
    return OpenApi.document(state, model.name(), paths, schemas);
  }

  private static void get(Map<String, Object> paths, String path, String summary) {
    paths.put(path, map("get", operation(summary, null, json(type("object")))));
  }

  private static void post(
      Map<String, Object> paths,
      String path,
      String summary,
      Map<String, Object> body,
      Map<String, Object> reply) {
    paths.put(path, map("post", operation(summary, body, reply)));
  }

  /** The name is part of the path here, whatever is in it. */
  private static Map<String, Object> operation(
      String summary, Map<String, Object> body, Map<String, Object> reply) {
    return OpenApi.operation("", summary, body, reply);
  }

  private static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static Map<String, Object> request(ModelSpec spec) {
    List<Object> needed = new ArrayList<>();
    List<Map<String, Object>> inputs = new ArrayList<>();
    for (TensorSpec input : spec.inputs()) {
      inputs.add(tensor(spec, input));
      if (!input.optional()) {
        needed.add(map("contains", object(map("name", map("const", input.name())))));
      }
    }
    Map<String, Object> all = array(map("oneOf", inputs));
    all.put("maxItems", inputs.size());
    if (!needed.isEmpty()) {
      all.put("allOf", needed);
    }
    Map<String, Object> members =
        map(
            "id",
            type("string"),
            "parameters",
            type("object"),
            "inputs",
            all,
            "outputs",
            array(output(spec)));
    Map<String, Object> request =
        map("type", "object", "properties", members, "required", List.of("inputs"));
    example(spec).ifPresent(example -> request.put("examples", List.of(map("inputs", example))));
    return request;
  }

  private static Map<String, Object> output(ModelSpec spec) {
    List<String> names = spec.outputs().stream().map(TensorSpec::name).toList();
    return object(map("name", map("type", "string", "enum", names), "parameters", type("object")));
  }

  private static Map<String, Object> response(ModelSpec spec) {
    List<Map<String, Object>> outputs = new ArrayList<>();
    spec.outputs().forEach(output -> outputs.add(tensor(spec, output)));
    return object(
        map(
            "id",
            type("string"),
            "model_name",
            map("const", spec.name()),
            "model_version",
            type("string"),
            "outputs",
            array(map("oneOf", outputs))));
  }

  private static Map<String, Object> tensor(ModelSpec model, TensorSpec spec) {
    List<Object> dims = new ArrayList<>();
    for (long dim : ModelFacts.shape(model, spec)) {
      dims.add(dim < 0 ? map("type", "integer", "minimum", 0) : map("const", dim));
    }
    Map<String, Object> shape = map("type", "array", "prefixItems", dims, "items", false);
    shape.put("minItems", dims.size());
    return map(
        "type",
        "object",
        "properties",
        map(
            "name",
            map("const", spec.name()),
            "datatype",
            map("const", spec.dataType().name()),
            "shape",
            shape,
            "parameters",
            type("object"),
            "data",
            map(
                "type",
                "array",
                "description",
                "of " + element(spec.dataType()) + ", nested or not")),
        "required",
        List.of("name", "datatype", "shape"));
  }

  // ---- Examples --------------------------------------------------------------------------------

  /** Inputs of ones, the smallest that fit; empty: JSON has no form of them, or they are many. */
  private static Optional<List<Map<String, Object>>> example(ModelSpec spec) {
    List<Map<String, Object>> inputs = new ArrayList<>();
    for (TensorSpec input : spec.inputs()) {
      List<Long> shape = ModelFacts.shape(spec, input).stream().map(dim -> Math.abs(dim)).toList();
      long most = MOST_ELEMENTS + 1L; // no product of two overflows
      long count =
          shape.stream().reduce(1L, (one, two) -> Math.min(one, most) * Math.min(two, most));
      boolean half = input.dataType() == DataType.FP16 || input.dataType() == DataType.BF16;
      if (half || count > MOST_ELEMENTS) {
        return Optional.empty();
      }
      Object one =
          switch (input.dataType()) {
            case BOOL -> true;
            case BYTES -> "1";
            default -> 1;
          };
      inputs.add(
          map(
              "name",
              input.name(),
              "datatype",
              input.dataType().name(),
              "shape",
              shape,
              "data",
              Collections.nCopies((int) count, one)));
    }
    return Optional.of(inputs);
  }

  private static Map<String, Object> generated(ModelSpec spec) {
    Map<String, Object> members = new LinkedHashMap<>();
    for (TensorSpec input : spec.inputs()) {
      Map<String, Object> element = type(element(input.dataType()));
      members.put(input.name(), map("anyOf", List.of(element, array(element))));
    }
    Map<String, Object> generated = object(members);
    example(spec).ifPresent(example -> generated.put("examples", List.of(byName(example))));
    return generated;
  }

  private static Map<String, Object> byName(List<Map<String, Object>> inputs) {
    Map<String, Object> values = new LinkedHashMap<>();
    inputs.forEach(input -> values.put((String) input.get("name"), input.get("data")));
    return values;
  }

  /** The name that JSON has for the elements of a tensor. */
  private static String element(DataType type) {
    return switch (type) {
      case BOOL -> "boolean";
      case BYTES -> "string";
      case FP16, BF16, FP32, FP64 -> "number";
      default -> "integer";
    };
  }
}
