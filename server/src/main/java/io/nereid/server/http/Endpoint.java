package io.nereid.server.http;

import io.nereid.server.access.EndpointGroup;

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
  /** Nothing is there. */
  UNKNOWN("");

  private final String method;

  Endpoint(String method) {
    this.method = method;
  }

  /** What it is restricted and granted with; null for what does not exist. */
  EndpointGroup group() {
    return switch (this) {
      case SERVER_LIVE, SERVER_READY, MODEL_READY -> EndpointGroup.HEALTH;
      case SERVER_METADATA, MODELS, MODEL_METADATA -> EndpointGroup.METADATA;
      case INFER -> EndpointGroup.INFERENCE;
      case MODEL_CONFIG -> EndpointGroup.MODEL_CONFIG;
      case MODEL_STATISTICS, ALL_STATISTICS -> EndpointGroup.STATISTICS;
      case REPOSITORY_INDEX, MODEL_LOAD, MODEL_UNLOAD -> EndpointGroup.MODEL_REPOSITORY;
      case UNKNOWN -> null;
    };
  }

  /** What the Allow field names. */
  String allow() {
    return method.equals("GET") ? "GET, HEAD" : method;
  }

  boolean allows(String asked) {
    return asked.equals(method) || (asked.equals("HEAD") && method.equals("GET"));
  }
}
