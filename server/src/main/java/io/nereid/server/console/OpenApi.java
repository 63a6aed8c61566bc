package io.nereid.server.console;

import io.nereid.JsonEndpoint;
import io.nereid.server.shared.JsonEndpoints;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Describes the protocol as this server serves it over HTTP, by OpenAPI 3.1. */
final class OpenApi {

  private static final String TEXT = "string";
  private static final String NUMBER = "integer";

  private final Map<String, Object> paths = new LinkedHashMap<>();

  private OpenApi() {}

  /** The document for the protocol, in UTF-8. */
  static byte[] ofProtocol(ServerState state) {
    OpenApi api = new OpenApi();
    api.server();
    api.models();
    api.inference();
    api.added();
    api.repository();
    api.settings(state);
    if (state.sharedMemory().isEnabled()) {
      api.sharedMemory("systemsharedmemory", "key", TEXT);
    }
    if (state.cudaMemory().isEnabled()) {
      api.sharedMemory("cudasharedmemory", "raw_handle", "object");
    }
    return document(state, "Open Inference Protocol", api.paths, schemas());
  }

  /** A whole document. */
  static byte[] document(
      ServerState state, String title, Map<String, Object> paths, Map<String, Object> schemas) {
    Map<String, Object> components = new LinkedHashMap<>();
    components.put("schemas", schemas);
    components.put("securitySchemes", map("bearer", map("type", "http", "scheme", "bearer")));
    return JSON.std.asBytes(
        map(
            "openapi",
            "3.1.0",
            "info",
            map("title", title, "version", ServerFacts.version(), "summary", state.name()),
            "security",
            List.of(map(), map("bearer", List.of())),
            "paths",
            paths,
            "components",
            components));
  }

  // ---- Paths -----------------------------------------------------------------------------------

  private void server() {
    get("/v2", "What the server is", ref("Server"));
    get("/v2/health/live", "Whether it runs", object(map("live", type("boolean"))));
    get("/v2/health/ready", "Whether it takes requests", ref("Ready"));
  }

  private void models() {
    get("/v2/models", "The models that take requests", object(map("models", array(type(TEXT)))));
    get("/v2/models/stats", "What all models did", ref("Statistics"));
    eachVersion("", "What a model is", ref("Model"));
    eachVersion("/ready", "Whether it takes requests", ref("ModelReady"));
    eachVersion("/config", "Its configuration", type("object"));
    eachVersion("/stats", "What it did", ref("Statistics"));
  }

  private void eachVersion(String end, String summary, Map<String, Object> reply) {
    get("/v2/models/{model}" + end, summary, reply);
    get("/v2/models/{model}/versions/{version}" + end, summary, reply);
  }

  private void inference() {
    for (String model : List.of("/v2/models/{model}", "/v2/models/{model}/versions/{version}")) {
      post(model + "/infer", "Run a model", ref("InferRequest"), json(ref("InferResponse")));
      post(model + "/generate", "Run it on values by name", type("object"), json(type("object")));
      post(
          model + "/generate_stream",
          "As generate, with an event for each response",
          type("object"),
          map("text/event-stream", map("schema", type(TEXT))));
    }
  }

  private void added() {
    for (JsonEndpoint endpoint : JsonEndpoints.all()) {
      add(
          endpoint.path(),
          endpoint.infers() ? "post" : "get",
          JSON.std.mapFrom(endpoint.description()));
    }
  }

  private void repository() {
    post(
        "/v2/repository/index",
        "What the repositories hold",
        object(map("ready", type("boolean"))),
        json(array(ref("IndexEntry"))));
    post(
        "/v2/repository/models/{model}/load",
        "Load a model, or load it again",
        object(map("parameters", type("object"))),
        Map.of());
    post(
        "/v2/repository/models/{model}/unload",
        "Unload a model",
        object(map("parameters", type("object"))),
        Map.of());
  }

  private void settings(ServerState state) {
    for (String path : List.of("/v2/trace/setting", "/v2/models/{model}/trace/setting")) {
      get(path, "Which requests are traced", type("object"));
      post(path, "Trace others", type("object"), json(type("object")));
    }
    if (state.log().isPresent()) {
      get("/v2/logging", "What the log tells", type("object"));
      post("/v2/logging", "Let it tell more, or less", type("object"), json(type("object")));
    }
  }

  private void sharedMemory(String kind, String handle, String type) {
    String all = "/v2/" + kind;
    String one = all + "/region/{region}";
    get(all + "/status", "Regions that are registered", array(type("object")));
    get(one + "/status", "One of them", array(type("object")));
    post(
        one + "/register",
        "Register one",
        object(map(handle, type(type), "offset", type(NUMBER), "byte_size", type(NUMBER))),
        Map.of());
    post(one + "/unregister", "Forget it", type("object"), Map.of());
    post(all + "/unregister", "Forget all", type("object"), Map.of());
  }

  private void get(String path, String summary, Map<String, Object> reply) {
    add(path, "get", operation(path, summary, null, json(reply)));
  }

  private void post(
      String path, String summary, Map<String, Object> body, Map<String, Object> reply) {
    add(path, "post", operation(path, summary, body, reply));
  }

  @SuppressWarnings("unchecked") // what is in there was put there by this
  private void add(String path, String method, Map<String, Object> operation) {
    Object item = paths.computeIfAbsent(path, key -> new LinkedHashMap<String, Object>());
    ((Map<String, Object>) item).put(method, operation);
  }

  /** One operation; {@code body} is null where it takes none. */
  static Map<String, Object> operation(
      String path, String summary, Map<String, Object> body, Map<String, Object> reply) {
    Map<String, Object> operation = map("summary", summary);
    List<Object> parameters = new ArrayList<>();
    for (String segment : path.split("/")) {
      if (segment.startsWith("{")) {
        String name = segment.substring(1, segment.length() - 1);
        String type = name.equals("version") ? NUMBER : TEXT;
        parameters.add(map("name", name, "in", "path", "required", true, "schema", type(type)));
      }
    }
    if (!parameters.isEmpty()) {
      operation.put("parameters", parameters);
    }
    if (body != null) {
      operation.put("requestBody", map("content", json(body)));
    }
    Map<String, Object> good = map("description", "It worked");
    if (!reply.isEmpty()) {
      good.put("content", reply);
    }
    Map<String, Object> bad = map("description", "Why not", "content", json(ref("Error")));
    operation.put("responses", map("200", good, "default", bad));
    return operation;
  }

  // ---- Schemas ---------------------------------------------------------------------------------

  private static Map<String, Object> schemas() {
    Map<String, Object> schemas = tensorSchemas();
    schemas.put(
        "Server",
        object(map("name", type(TEXT), "version", type(TEXT), "extensions", array(type(TEXT)))));
    schemas.put("Ready", object(map("ready", type("boolean"), "live", type("boolean"))));
    schemas.put("ModelReady", object(map("name", type(TEXT), "ready", type("boolean"))));
    Map<String, Object> tensor =
        object(map("name", type(TEXT), "datatype", type(TEXT), "shape", array(type(NUMBER))));
    schemas.put(
        "Model",
        object(
            map(
                "name",
                type(TEXT),
                "versions",
                array(type(TEXT)),
                "platform",
                type(TEXT),
                "inputs",
                array(tensor),
                "outputs",
                array(tensor))));
    schemas.put("Statistics", object(map("model_stats", array(type("object")))));
    schemas.put(
        "IndexEntry",
        map(
            "type",
            "object",
            "properties",
            map(
                "name",
                type(TEXT),
                "version",
                type(TEXT),
                "state",
                type(TEXT),
                "reason",
                type(TEXT)),
            "required",
            List.of("name")));
    return schemas;
  }

  /** The parts of requests and responses of all models. */
  static Map<String, Object> tensorSchemas() {
    Map<String, Object> schemas = new LinkedHashMap<>();
    schemas.put("Error", object(map("error", type(TEXT))));
    Map<String, Object> tensor =
        map(
            "name",
            type(TEXT),
            "datatype",
            type(TEXT),
            "shape",
            array(type(NUMBER)),
            "parameters",
            type("object"),
            "data",
            type("array"));
    List<String> needed = List.of("name", "datatype", "shape");
    schemas.put("Tensor", map("type", "object", "properties", tensor, "required", needed));
    Map<String, Object> wanted =
        map(
            "type",
            "object",
            "properties",
            map("name", type(TEXT), "parameters", type("object")),
            "required",
            List.of("name"));
    schemas.put(
        "InferRequest",
        map(
            "type",
            "object",
            "properties",
            map(
                "id",
                type(TEXT),
                "parameters",
                type("object"),
                "inputs",
                array(ref("Tensor")),
                "outputs",
                array(wanted)),
            "required",
            List.of("inputs")));
    schemas.put(
        "InferResponse",
        map(
            "type",
            "object",
            "properties",
            map(
                "id",
                type(TEXT),
                "model_name",
                type(TEXT),
                "model_version",
                type(TEXT),
                "parameters",
                type("object"),
                "outputs",
                array(ref("Tensor"))),
            "required",
            List.of("model_name", "model_version", "outputs")));
    return schemas;
  }

  static Map<String, Object> type(String name) {
    return map("type", name);
  }

  static Map<String, Object> array(Map<String, Object> items) {
    return map("type", "array", "items", items);
  }

  static Map<String, Object> ref(String schema) {
    return map("$ref", "#/components/schemas/" + schema);
  }

  static Map<String, Object> object(Map<String, Object> properties) {
    return map("type", "object", "properties", properties);
  }

  static Map<String, Object> json(Map<String, Object> schema) {
    return map("application/json", map("schema", schema));
  }

  /** Names and values in turns. */
  static Map<String, Object> map(Object... members) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      map.put((String) members[i], members[i + 1]);
    }
    return map;
  }
}
