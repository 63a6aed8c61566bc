package io.nereid.server.http;

import io.nereid.server.access.EndpointGroup;
import java.util.List;

/**
 * The endpoints of the HTTP frontend, with their methods and their paths. Paths are patterns of
 * Helidon's routing; those without a slash in front are below the console's path. A request belongs
 * to the first endpoint one of whose patterns it matches.
 */
enum Endpoint {
  INFER("POST", "/v2/models/{model}/infer", "/v2/models/{model}/versions/{version}/infer"),
  SERVER_METADATA("GET", "/v2", "/v2/"),
  SERVER_LIVE("GET", "/v2/health/live"),
  SERVER_READY("GET", "/v2/health/ready"),
  MODELS("GET", "/v2/models"),
  ALL_STATISTICS("GET", "/v2/models/stats"),
  MODEL_METADATA("GET", "/v2/models/{model}", "/v2/models/{model}/versions/{version}"),
  MODEL_READY("GET", "/v2/models/{model}/ready", "/v2/models/{model}/versions/{version}/ready"),
  MODEL_CONFIG("GET", "/v2/models/{model}/config", "/v2/models/{model}/versions/{version}/config"),
  MODEL_STATISTICS(
      "GET", "/v2/models/{model}/stats", "/v2/models/{model}/versions/{version}/stats"),
  TRACE_SETTING("GET, POST", "/v2/trace/setting", "/v2/models/{model}/trace/setting"),
  GENERATE("POST", "/v2/models/{model}/generate", "/v2/models/{model}/versions/{version}/generate"),
  GENERATE_STREAM(
      "POST",
      "/v2/models/{model}/generate_stream",
      "/v2/models/{model}/versions/{version}/generate_stream"),
  REPOSITORY_INDEX("POST", "/v2/repository/index", "/v2/repository/{repository}/index"),
  MODEL_LOAD(
      "POST",
      "/v2/repository/models/{model}/load",
      "/v2/repository/{repository}/models/{model}/load"),
  MODEL_UNLOAD(
      "POST",
      "/v2/repository/models/{model}/unload",
      "/v2/repository/{repository}/models/{model}/unload"),
  MODEL_PROMOTE("POST", "/v2/repository/models/{model}/versions/{version}/promote"),
  SYSTEM_MEMORY_STATUS(
      "GET", "/v2/systemsharedmemory/status", "/v2/systemsharedmemory/region/{region}/status"),
  SYSTEM_MEMORY_REGISTER("POST", "/v2/systemsharedmemory/region/{region}/register"),
  SYSTEM_MEMORY_UNREGISTER(
      "POST",
      "/v2/systemsharedmemory/unregister",
      "/v2/systemsharedmemory/region/{region}/unregister"),
  CUDA_MEMORY_STATUS(
      "GET", "/v2/cudasharedmemory/status", "/v2/cudasharedmemory/region/{region}/status"),
  CUDA_MEMORY_REGISTER("POST", "/v2/cudasharedmemory/region/{region}/register"),
  CUDA_MEMORY_UNREGISTER(
      "POST", "/v2/cudasharedmemory/unregister", "/v2/cudasharedmemory/region/{region}/unregister"),
  LOGGING("GET, POST", "/v2/logging"),
  RECORDING("GET, POST", "/v2/recording"),
  ADDED("POST"), // this and the next are of the class path, with paths in JsonEndpoints
  ADDED_QUESTION("GET"),
  CONSOLE_ABOUT("GET", "api/about"), // this and the following are the console's
  CONSOLE_OVERVIEW("GET", "api/overview/events"),
  CONSOLE_HISTORY(
      "GET",
      "api/history",
      "api/models/{model}/history",
      "api/models/{model}/versions/{version}/history"),
  CONSOLE_REQUESTS("GET", "api/requests"),
  CONSOLE_REQUEST_EVENTS("GET", "api/requests/events"),
  CONSOLE_MODEL("GET", "api/models/{model}", "api/models/{model}/versions/{version}"),
  CONSOLE_MODEL_EVENTS(
      "GET", "api/models/{model}/events", "api/models/{model}/versions/{version}/events"),
  CONSOLE_CONFIGURATION(
      "GET",
      "api/models/{model}/configuration",
      "api/models/{model}/versions/{version}/configuration"),
  CONSOLE_RELOAD(
      "GET", "api/models/{model}/reload", "api/models/{model}/versions/{version}/reload"),
  OPENAPI("GET", "/openapi.json"),
  OPENAPI_MODEL("GET", "/openapi/{model}.json"),
  CONSOLE_FILE("GET", "", "{+file}"),
  /** No endpoint has the path. */
  UNKNOWN("");

  private final String allow;
  private final List<String> allowed;
  private final List<String> patterns;
  private final String label;

  Endpoint(String methods, String... patterns) {
    allow = methods.replace("GET", "GET, HEAD");
    allowed = List.of(allow.split(", "));
    this.patterns = List.of(patterns);
    String first = patterns.length == 0 ? "unknown" : patterns[0];
    label = patterns.length == 0 || first.startsWith("/") ? first : "console/" + first;
  }

  /** The name that metrics give it: the first pattern of its paths. */
  String label() {
    return label;
  }

  /** The patterns of its paths. */
  List<String> patterns() {
    return patterns;
  }

  /** The endpoint's group for access control; null for an unknown path. */
  EndpointGroup group() {
    return switch (this) {
      case SERVER_LIVE, SERVER_READY, MODEL_READY -> EndpointGroup.HEALTH;
      case SERVER_METADATA,
          MODELS,
          MODEL_METADATA,
          ADDED_QUESTION,
          CONSOLE_MODEL,
          OPENAPI,
          OPENAPI_MODEL ->
          EndpointGroup.METADATA;
      case INFER, GENERATE, GENERATE_STREAM, ADDED -> EndpointGroup.INFERENCE;
      case MODEL_CONFIG, CONSOLE_CONFIGURATION -> EndpointGroup.MODEL_CONFIG;
      case MODEL_STATISTICS,
          ALL_STATISTICS,
          CONSOLE_OVERVIEW,
          CONSOLE_HISTORY,
          CONSOLE_MODEL_EVENTS ->
          EndpointGroup.STATISTICS;
      case REPOSITORY_INDEX, MODEL_LOAD, MODEL_UNLOAD, MODEL_PROMOTE, CONSOLE_RELOAD ->
          EndpointGroup.MODEL_REPOSITORY;
      case TRACE_SETTING, RECORDING, CONSOLE_REQUESTS, CONSOLE_REQUEST_EVENTS ->
          EndpointGroup.TRACE;
      case LOGGING -> EndpointGroup.LOGGING;
      case SYSTEM_MEMORY_STATUS,
          SYSTEM_MEMORY_REGISTER,
          SYSTEM_MEMORY_UNREGISTER,
          CUDA_MEMORY_STATUS,
          CUDA_MEMORY_REGISTER,
          CUDA_MEMORY_UNREGISTER ->
          EndpointGroup.SHARED_MEMORY;
      case CONSOLE_FILE, CONSOLE_ABOUT, UNKNOWN -> null;
    };
  }

  /** True if a POST changes what the server does for everybody. */
  boolean isChange() {
    return switch (this) {
      case MODEL_LOAD,
          MODEL_UNLOAD,
          MODEL_PROMOTE,
          SYSTEM_MEMORY_REGISTER,
          SYSTEM_MEMORY_UNREGISTER,
          CUDA_MEMORY_REGISTER,
          CUDA_MEMORY_UNREGISTER,
          TRACE_SETTING,
          RECORDING,
          LOGGING ->
          true;
      default -> false;
    };
  }

  /** True if a POST runs a model. */
  boolean isInference() {
    return this == INFER || this == GENERATE || this == GENERATE_STREAM;
  }

  /** True if the class path adds it. */
  boolean isAdded() {
    return this == ADDED || this == ADDED_QUESTION;
  }

  /** True if it belongs to the console. */
  boolean isConsole() {
    return ordinal() >= CONSOLE_ABOUT.ordinal() && this != UNKNOWN;
  }

  /**
   * True if no access is checked: for the console's files and its description of the client's
   * rights.
   */
  boolean isPublic() {
    return this == CONSOLE_FILE || this == CONSOLE_ABOUT;
  }

  /** The path of an inference, with names in braces for what differs from request to request. */
  String template(boolean versioned) {
    return patterns.get(versioned ? 1 : 0);
  }

  /** The methods that the Allow field names. */
  String allow() {
    return allow;
  }

  /** True if the answer depends on which models there are. */
  boolean needsModels() {
    return switch (this) {
      case SERVER_METADATA,
          SERVER_LIVE,
          SERVER_READY,
          MODEL_READY,
          SYSTEM_MEMORY_STATUS,
          SYSTEM_MEMORY_REGISTER,
          SYSTEM_MEMORY_UNREGISTER,
          CUDA_MEMORY_STATUS,
          CUDA_MEMORY_REGISTER,
          CUDA_MEMORY_UNREGISTER,
          LOGGING,
          RECORDING,
          UNKNOWN ->
          false;
      default -> true;
    };
  }

  boolean allows(String asked) {
    return allowed.contains(asked);
  }
}
