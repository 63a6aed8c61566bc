package io.nereid.server.http;

import io.nereid.server.access.EndpointGroup;
import io.nereid.server.wire.RequestHead;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Where a path leads, and how that is found out.
 *
 * @param endpoint what is asked for
 * @param model the model's name; empty where the path names none
 * @param version the model's version; 0 where the path names none
 * @param repository whether the path names a repository, which no endpoint supports
 * @param region the shared memory region's name; empty where the path names none
 */
record Route(Endpoint endpoint, String model, long version, boolean repository, String region) {

  private static final List<String> TRACE_SETTING = List.of("trace", "setting");

  static final Route UNKNOWN = of(Endpoint.UNKNOWN);

  static Route of(Endpoint endpoint) {
    return new Route(endpoint, "", 0, false);
  }

  static Route ofRegion(Endpoint endpoint, String region) {
    return new Route(endpoint, "", 0, false, region);
  }

  Route(Endpoint endpoint, String model, long version, boolean repository) {
    this(endpoint, model, version, repository, "");
  }

  /** Where a target leads. */
  static Route to(String target) {
    String path = RequestHead.path(target);
    if (path.equals("/v2") || path.equals("/v2/")) {
      return Route.of(Endpoint.SERVER_METADATA);
    }
    if (!path.startsWith("/v2/")) {
      return switch (path) {
        case "/v1/embeddings" -> Route.of(Endpoint.EMBEDDINGS);
        case "/v1/models" -> Route.of(Endpoint.EMBEDDING_MODELS);
        default -> Route.UNKNOWN;
      };
    }
    List<String> segments = Arrays.asList(path.substring("/v2/".length()).split("/", -1));
    return switch (segments.getFirst()) {
      case "health" -> health(segments);
      case "models" -> models(segments);
      case "repository" -> repository(segments);
      case "systemsharedmemory" ->
          sharedMemory(
              segments,
              Endpoint.SYSTEM_MEMORY_STATUS,
              Endpoint.SYSTEM_MEMORY_REGISTER,
              Endpoint.SYSTEM_MEMORY_UNREGISTER);
      case "cudasharedmemory" ->
          sharedMemory(
              segments,
              Endpoint.CUDA_MEMORY_STATUS,
              Endpoint.CUDA_MEMORY_REGISTER,
              Endpoint.CUDA_MEMORY_UNREGISTER);
      case "trace" ->
          segments.equals(TRACE_SETTING) ? Route.of(Endpoint.TRACE_SETTING) : Route.UNKNOWN;
      case "logging" -> segments.size() == 1 ? Route.of(Endpoint.LOGGING) : Route.UNKNOWN;
      default -> Route.UNKNOWN;
    };
  }

  private static Route health(List<String> segments) {
    if (segments.size() == 2) {
      switch (segments.get(1)) {
        case "live":
          return Route.of(Endpoint.SERVER_LIVE);
        case "ready":
          return Route.of(Endpoint.SERVER_READY);
        default:
      }
    }
    return Route.UNKNOWN;
  }

  private static Route models(List<String> segments) {
    int size = segments.size();
    if (size == 1) {
      return Route.of(Endpoint.MODELS);
    }
    if (size == 2 && segments.get(1).equals("stats")) {
      return Route.of(Endpoint.ALL_STATISTICS);
    }
    String model = decode(segments.get(1));
    if (model.isEmpty()) {
      return Route.UNKNOWN;
    }
    if (segments.subList(2, size).equals(TRACE_SETTING)) {
      return new Route(Endpoint.TRACE_SETTING, model, 0, false);
    }
    int next = 2;
    long version = 0;
    if (size > 3 && segments.get(2).equals("versions")) {
      version = RequestHead.digits(segments.get(3));
      if (version <= 0) {
        return Route.UNKNOWN;
      }
      next = 4;
    }
    if (size == next) {
      return new Route(Endpoint.MODEL_METADATA, model, version, false);
    }
    if (size > next + 1) {
      return Route.UNKNOWN;
    }
    return switch (segments.get(next)) {
      case "infer" -> new Route(Endpoint.INFER, model, version, false);
      case "generate" -> new Route(Endpoint.GENERATE, model, version, false);
      case "generate_stream" -> new Route(Endpoint.GENERATE_STREAM, model, version, false);
      case "ready" -> new Route(Endpoint.MODEL_READY, model, version, false);
      case "config" -> new Route(Endpoint.MODEL_CONFIG, model, version, false);
      case "stats" -> new Route(Endpoint.MODEL_STATISTICS, model, version, false);
      default -> Route.UNKNOWN;
    };
  }

  private static Route repository(List<String> segments) {
    int size = segments.size();
    if ((size == 2 || size == 3) && segments.getLast().equals("index")) {
      return new Route(Endpoint.REPOSITORY_INDEX, "", 0, size == 3);
    }
    if ((size == 4 || size == 5) && segments.get(size - 3).equals("models")) {
      String model = decode(segments.get(size - 2));
      return switch (segments.getLast()) {
        case "load" -> new Route(Endpoint.MODEL_LOAD, model, 0, size == 5);
        case "unload" -> new Route(Endpoint.MODEL_UNLOAD, model, 0, size == 5);
        default -> Route.UNKNOWN;
      };
    }
    return Route.UNKNOWN;
  }

  private static Route sharedMemory(
      List<String> segments, Endpoint status, Endpoint register, Endpoint unregister) {
    boolean ofOne = segments.size() == 4 && segments.get(1).equals("region");
    String region = ofOne ? decode(segments.get(2)) : "";
    if (ofOne ? region.isEmpty() : segments.size() != 2) {
      return Route.UNKNOWN;
    }
    return switch (segments.getLast()) {
      case "status" -> Route.ofRegion(status, region);
      case "register" -> ofOne ? Route.ofRegion(register, region) : Route.UNKNOWN;
      case "unregister" -> Route.ofRegion(unregister, region);
      default -> Route.UNKNOWN;
    };
  }

  /** A segment without its percent-encoding; empty when that is broken. */
  static String decode(String segment) {
    if (segment.indexOf('%') < 0) {
      return segment;
    }
    byte[] bytes = new byte[segment.length()];
    int count = 0;
    for (int i = 0; i < segment.length(); i++) {
      char c = segment.charAt(i);
      if (c == '%') {
        int high = i + 2 < segment.length() ? Character.digit(segment.charAt(i + 1), 16) : -1;
        int low = high < 0 ? -1 : Character.digit(segment.charAt(i + 2), 16);
        if (low < 0) {
          return "";
        }
        bytes[count++] = (byte) (high << 4 | low);
        i += 2;
      } else {
        bytes[count++] = (byte) c;
      }
    }
    return new String(bytes, 0, count, StandardCharsets.UTF_8);
  }

  /** What can be asked for, and with which method. */
  enum Endpoint {
    SERVER_METADATA("GET"),
    SERVER_LIVE("GET"),
    SERVER_READY("GET"),
    MODELS("GET"),
    MODEL_METADATA("GET"),
    MODEL_READY("GET"),
    MODEL_CONFIG("GET"),
    MODEL_STATISTICS("GET"),
    ALL_STATISTICS("GET"),
    INFER("POST"),
    TRACE_SETTING("GET", "POST"),
    GENERATE("POST"),
    GENERATE_STREAM("POST"),
    REPOSITORY_INDEX("POST"),
    MODEL_LOAD("POST"),
    MODEL_UNLOAD("POST"),
    SYSTEM_MEMORY_STATUS("GET"),
    SYSTEM_MEMORY_REGISTER("POST"),
    SYSTEM_MEMORY_UNREGISTER("POST"),
    CUDA_MEMORY_STATUS("GET"),
    CUDA_MEMORY_REGISTER("POST"),
    CUDA_MEMORY_UNREGISTER("POST"),
    LOGGING("GET", "POST"),
    EMBEDDINGS("POST"), // this and what follows is as OpenAI has it
    EMBEDDING_MODELS("GET"),
    CONSOLE_FILE("GET"), // this and what follows is the console's
    CONSOLE_ABOUT("GET"),
    CONSOLE_OVERVIEW("GET"),
    CONSOLE_MODEL("GET"),
    CONSOLE_MODEL_EVENTS("GET"),
    CONSOLE_CONFIGURATION("GET"),
    CONSOLE_RELOAD("GET"),
    CONSOLE_REQUESTS("GET"),
    CONSOLE_REQUEST_EVENTS("GET"),
    CONSOLE_LOAD("POST"),
    CONSOLE_LOAD_STOP("POST"),
    CONSOLE_LOAD_EVENTS("GET"),
    OPENAPI("GET"),
    OPENAPI_MODEL("GET"),
    /** Nothing is there. */
    UNKNOWN();

    private final List<String> methods;

    Endpoint(String... methods) {
      this.methods = List.of(methods);
    }

    /** What it is restricted and granted with; null for what does not exist. */
    EndpointGroup group() {
      return switch (this) {
        case SERVER_LIVE, SERVER_READY, MODEL_READY -> EndpointGroup.HEALTH;
        case SERVER_METADATA,
            MODELS,
            MODEL_METADATA,
            EMBEDDING_MODELS,
            CONSOLE_MODEL,
            OPENAPI,
            OPENAPI_MODEL ->
            EndpointGroup.METADATA;
        case INFER, GENERATE, GENERATE_STREAM, EMBEDDINGS, CONSOLE_LOAD, CONSOLE_LOAD_STOP ->
            EndpointGroup.INFERENCE;
        case MODEL_CONFIG, CONSOLE_CONFIGURATION -> EndpointGroup.MODEL_CONFIG;
        case MODEL_STATISTICS,
            ALL_STATISTICS,
            CONSOLE_OVERVIEW,
            CONSOLE_MODEL_EVENTS,
            CONSOLE_LOAD_EVENTS ->
            EndpointGroup.STATISTICS;
        case REPOSITORY_INDEX, MODEL_LOAD, MODEL_UNLOAD, CONSOLE_RELOAD ->
            EndpointGroup.MODEL_REPOSITORY;
        case TRACE_SETTING, CONSOLE_REQUESTS, CONSOLE_REQUEST_EVENTS -> EndpointGroup.TRACE;
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

    /** Whether a POST changes what the server does for everybody. */
    boolean isChange() {
      return switch (this) {
        case MODEL_LOAD,
            MODEL_UNLOAD,
            SYSTEM_MEMORY_REGISTER,
            SYSTEM_MEMORY_UNREGISTER,
            CUDA_MEMORY_REGISTER,
            CUDA_MEMORY_UNREGISTER,
            TRACE_SETTING,
            LOGGING,
            CONSOLE_LOAD,
            CONSOLE_LOAD_STOP ->
            true;
        default -> false;
      };
    }

    /** Whether a POST runs a model. */
    boolean isInference() {
      return this == INFER || this == GENERATE || this == GENERATE_STREAM;
    }

    /** Whether it is as OpenAI has it, failures too. */
    boolean isOpenAi() {
      return this == EMBEDDINGS || this == EMBEDDING_MODELS;
    }

    /** Whether it belongs to the console. */
    boolean isConsole() {
      return ordinal() >= CONSOLE_FILE.ordinal() && this != UNKNOWN;
    }

    /** Whether everybody may ask: what a page is made of, and what it may do. */
    boolean isPublic() {
      return this == CONSOLE_FILE || this == CONSOLE_ABOUT;
    }

    /** The path of an inference, with names in braces for what differs from request to request. */
    String template(boolean versioned) {
      String action =
          switch (this) {
            case GENERATE -> "generate";
            case GENERATE_STREAM -> "generate_stream";
            default -> "infer";
          };
      return (versioned ? "/v2/models/{model}/versions/{version}/" : "/v2/models/{model}/")
          + action;
    }

    /** What the Allow field names. */
    String allow() {
      return String.join(", ", methods).replace("GET", "GET, HEAD");
    }

    /** Whether the answer depends on which models there are. */
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
            UNKNOWN ->
            false;
        default -> true;
      };
    }

    boolean allows(String asked) {
      return methods.contains(asked.equals("HEAD") ? "GET" : asked);
    }
  }
}
