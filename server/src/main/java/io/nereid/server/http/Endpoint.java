package io.nereid.server.http;

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
  REPOSITORY_INDEX("POST"),
  MODEL_LOAD("POST"),
  MODEL_UNLOAD("POST"),
  SYSTEM_MEMORY_STATUS("GET"),
  SYSTEM_MEMORY_REGISTER("POST"),
  SYSTEM_MEMORY_UNREGISTER("POST"),
  CUDA_MEMORY_STATUS("GET"),
  CUDA_MEMORY_REGISTER("POST"),
  CUDA_MEMORY_UNREGISTER("POST"),
  /** Nothing is there. */
  UNKNOWN("");

  private final String method;

  Endpoint(String method) {
    this.method = method;
  }

  /** What the Allow field names. */
  String allow() {
    return method.equals("GET") ? "GET, HEAD" : method;
  }

  /** Whether the answer depends on which models there are. */
  boolean needsModels() {
    return switch (this) {
      case SERVER_METADATA, SERVER_LIVE, SERVER_READY, MODEL_READY, UNKNOWN -> false;
      default -> true;
    };
  }

  boolean allows(String asked) {
    return asked.equals(method) || (asked.equals("HEAD") && method.equals("GET"));
  }
}
