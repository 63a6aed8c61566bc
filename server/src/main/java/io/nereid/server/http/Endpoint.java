package io.nereid.server.http;

import io.nereid.server.access.EndpointGroup;
import java.util.List;

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
      case SERVER_METADATA, MODELS, MODEL_METADATA -> EndpointGroup.METADATA;
      case INFER, GENERATE, GENERATE_STREAM -> EndpointGroup.INFERENCE;
      case MODEL_CONFIG -> EndpointGroup.MODEL_CONFIG;
      case MODEL_STATISTICS, ALL_STATISTICS -> EndpointGroup.STATISTICS;
      case REPOSITORY_INDEX, MODEL_LOAD, MODEL_UNLOAD -> EndpointGroup.MODEL_REPOSITORY;
      case TRACE_SETTING -> EndpointGroup.TRACE;
      case LOGGING -> EndpointGroup.LOGGING;
      case SYSTEM_MEMORY_STATUS,
          SYSTEM_MEMORY_REGISTER,
          SYSTEM_MEMORY_UNREGISTER,
          CUDA_MEMORY_STATUS,
          CUDA_MEMORY_REGISTER,
          CUDA_MEMORY_UNREGISTER ->
          EndpointGroup.SHARED_MEMORY;
      case UNKNOWN -> null;
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
          LOGGING ->
          true;
      default -> false;
    };
  }

  /** Whether a POST runs a model. */
  boolean isInference() {
    return group() == EndpointGroup.INFERENCE;
  }

  /** The path of an inference, with names in braces for what differs from request to request. */
  String template(boolean versioned) {
    String action =
        switch (this) {
          case GENERATE -> "generate";
          case GENERATE_STREAM -> "generate_stream";
          default -> "infer";
        };
    return (versioned ? "/v2/models/{model}/versions/{version}/" : "/v2/models/{model}/") + action;
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
