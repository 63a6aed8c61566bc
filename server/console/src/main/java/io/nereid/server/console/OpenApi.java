package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.server.shared.JsonEndpoints;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.jr.ob.JSON;

/**
 * Describes the protocol, or one model with its inputs and outputs, by OpenAPI 3.1. A resource has
 * the protocol's paths and schemas; the rest is added to a copy of it. Each document has its own
 * object.
 */
final class OpenApi {

  private static final String MODEL = "/v2/models/{model}";

  /** The most elements of an example; larger ones are not useful. */
  private static final int MOST_ELEMENTS = 1024;

  private final Map<String, Object> document = read();
  private final Map<String, Object> paths = in(document, "paths");
  private final Map<String, Object> schemas = in(document, "components", "schemas");

  private OpenApi(String title, ServerState state) {
    in(document, "info").put("title", title);
    in(document, "info").put("version", ServerFacts.version());
    in(document, "info").put("summary", state.name());
  }

  private static Map<String, Object> read() {
    try (InputStream in = OpenApi.class.getResourceAsStream("openapi/protocol.json")) {
      return JSON.std.mapFrom(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The document for the protocol as this server serves it, in UTF-8. */
  static byte[] ofProtocol(ServerState state) {
    OpenApi api = new OpenApi("Open Inference Protocol", state);
    api.withdraw("/v2/logging", state.log().isPresent());
    api.withdraw("/v2/systemsharedmemory", state.sharedMemory().isEnabled());
    api.withdraw("/v2/cudasharedmemory", state.cudaMemory().isEnabled());
    JsonEndpoints.all()
        .forEach(endpoint ->
            api.paths.put(
                endpoint.path(),
                map(endpoint.infers() ? "post" : "get", JSON.std.mapFrom(endpoint.description()))));
    return JSON.std.asBytes(api.document);
  }

  private void withdraw(String prefix, boolean served) {
    paths.keySet().removeIf(path -> !served && path.startsWith(prefix));
  }

  // ---- One model -------------------------------------------------------------------------------

  /** The document for a model, in UTF-8. */
  static byte[] of(ServerState state, Model model) {
    OpenApi api = new OpenApi(model.name(), state);
    api.describe(model.spec());
    return JSON.std.asBytes(api.document);
  }

  private void describe(ModelSpec spec) {
    Map<String, Object> all = Map.copyOf(paths);
    paths.clear();
    List<String> ends =
        spec.decoupled()
            ? List.of("", "/config", "/stats", "/generate_stream")
            : List.of("", "/config", "/stats", "/infer", "/generate");
    for (String end : ends) {
      Map<String, Object> item = in(all, MODEL + end);
      for (Object operation : item.values()) {
        ((Map<?, ?>) operation).remove("parameters"); // the path contains the name itself
      }
      if (end.startsWith("/generate")) {
        in(item, "post", "requestBody", "content", "application/json")
            .put("schema", generated(spec));
      }
      paths.put("/v2/models/" + segment(spec.name()) + end, item);
    }
    Map<String, Object> response = in(schemas, "InferResponse", "properties");
    response.put("model_name", map("const", spec.name()));
    response.put("outputs", array(map("oneOf", tensors(spec, spec.outputs()))));
    Map<String, Object> request = in(schemas, "InferRequest", "properties");
    List<String> names = spec.outputs().stream().map(TensorSpec::name).toList();
    in(request, "outputs", "items", "properties", "name").put("enum", names);
    request.put("inputs", inputs(spec));
    example(spec)
        .ifPresent(example ->
            in(schemas, "InferRequest").put("examples", List.of(map("inputs", example))));
  }

  private static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private Map<String, Object> inputs(ModelSpec spec) {
    List<Object> needed = new ArrayList<>();
    for (TensorSpec input : spec.inputs()) {
      if (!input.optional()) {
        Map<String, Object> name = map("name", map("const", input.name()));
        needed.add(map("contains", map("type", "object", "properties", name)));
      }
    }
    Map<String, Object> inputs = array(map("oneOf", tensors(spec, spec.inputs())));
    inputs.put("maxItems", spec.inputs().size());
    if (!needed.isEmpty()) {
      inputs.put("allOf", needed);
    }
    return inputs;
  }

  private List<Map<String, Object>> tensors(ModelSpec model, List<TensorSpec> specs) {
    List<Map<String, Object>> tensors = new ArrayList<>();
    for (TensorSpec spec : specs) {
      List<Object> dims = new ArrayList<>();
      for (long dim : ModelFacts.shape(model, spec)) {
        dims.add(dim < 0 ? map("type", "integer", "minimum", 0) : map("const", dim));
      }
      Map<String, Object> shape = map("type", "array", "prefixItems", dims, "items", false);
      shape.put("minItems", dims.size());
      String data = "of " + element(spec.dataType()) + ", nested or not";
      Map<String, Object> tensor = new LinkedHashMap<>(in(schemas, "Tensor"));
      Map<String, Object> members = new LinkedHashMap<>(in(tensor, "properties"));
      members.put("name", map("const", spec.name()));
      members.put("datatype", map("const", spec.dataType().name()));
      members.put("shape", shape);
      members.put("data", map("type", "array", "description", data));
      tensor.put("properties", members);
      tensors.add(tensor);
    }
    return tensors;
  }

  /**
   * Inputs of ones in the smallest shapes; empty: JSON cannot express them, or they are too large.
   */
  private static Optional<List<Map<String, Object>>> example(ModelSpec spec) {
    List<Map<String, Object>> inputs = new ArrayList<>();
    for (TensorSpec input : spec.inputs()) {
      List<Long> shape = ModelFacts.shape(spec, input).stream().map(dim -> Math.abs(dim)).toList();
      long most = MOST_ELEMENTS + 1L; // products of two factors do not overflow
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
      Map<String, Object> tensor = map("name", input.name(), "datatype", input.dataType().name());
      tensor.put("shape", shape);
      tensor.put("data", Collections.nCopies((int) count, one));
      inputs.add(tensor);
    }
    return Optional.of(inputs);
  }

  /** The body of a generation: values by the names of inputs. */
  private static Map<String, Object> generated(ModelSpec spec) {
    Map<String, Object> members = new LinkedHashMap<>();
    for (TensorSpec input : spec.inputs()) {
      Map<String, Object> element = map("type", element(input.dataType()));
      members.put(input.name(), map("anyOf", List.of(element, array(element))));
    }
    Map<String, Object> generated = map("type", "object", "properties", members);
    example(spec)
        .ifPresent(example -> {
          Map<String, Object> values = new LinkedHashMap<>();
          example.forEach(input -> values.put((String) input.get("name"), input.get("data")));
          generated.put("examples", List.of(values));
        });
    return generated;
  }

  /** The JSON type of a tensor's elements. */
  private static String element(DataType type) {
    return switch (type) {
      case BOOL -> "boolean";
      case BYTES -> "string";
      case FP16, BF16, FP32, FP64 -> "number";
      default -> "integer";
    };
  }

  // ---- JSON ------------------------------------------------------------------------------------

  private static Map<String, Object> array(Map<String, Object> items) {
    return map("type", "array", "items", items);
  }

  /** Makes a map from alternating names and values. */
  private static Map<String, Object> map(Object... members) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      map.put((String) members[i], members[i + 1]);
    }
    return map;
  }

  /** The nested object at a path of names. */
  @SuppressWarnings("unchecked") // the file has objects there
  private static Map<String, Object> in(Map<String, Object> map, String... names) {
    for (String name : names) {
      map = (Map<String, Object>) map.get(name);
    }
    return map;
  }
}
