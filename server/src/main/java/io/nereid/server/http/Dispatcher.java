package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.JsonEndpoints;
import io.nereid.server.shared.ModelFacts;
import java.io.IOException;
import java.util.function.Function;

/**
 * Serves all endpoints except inference by Triton's protocol: writes the JSON of a reply and
 * returns its status. Called by the thread that serves the request.
 */
final class Dispatcher {

  private final HttpContext context;
  private final RepositoryHandler repository;
  private final SharedMemoryHandler sharedMemory;
  private final SettingsHandler settings;
  private final HttpExchange exchange;
  private final Function<Route, Model> models;

  /** For the requests of one exchange; {@code models} finds the models for inference. */
  Dispatcher(HttpContext context, HttpExchange exchange, Function<Route, Model> models) {
    this.context = context;
    repository = new RepositoryHandler(context, exchange);
    sharedMemory = new SharedMemoryHandler(context);
    settings = new SettingsHandler(context);
    this.exchange = exchange;
    this.models = models;
  }

  Status dispatch(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    Route route = head.route();
    if (route.repository()) {
      throw new HttpFailure(
          Status.NOT_IMPLEMENTED, "'repository_name' specification is not supported");
    }
    if (route.endpoint().needsModels()) {
      context.health().checkLoaded();
    }
    return switch (route.endpoint()) {
      case SERVER_LIVE -> health(serverLive(json), json);
      case SERVER_READY -> health(serverReady(json), json);
      case MODEL_READY -> health(modelReady(route, json), json);
      case SERVER_METADATA -> ok(() -> MetadataJson.server(context.state(), json));
      case MODELS -> ok(() -> MetadataJson.models(nereid().models(), json));
      case MODEL_METADATA -> ok(() -> MetadataJson.model(nereid(), model(route), route, json));
      case MODEL_CONFIG -> ok(() -> MetadataJson.configuration(model(route), json));
      case ALL_STATISTICS ->
          ok(() -> MetadataJson.statistics(ModelFacts.withStatistics(nereid()), json));
      case MODEL_STATISTICS ->
          ok(() ->
              MetadataJson.statistics(
                  ModelFacts.withStatistics(nereid(), route.model(), route.version()), json));
      case REPOSITORY_INDEX -> {
        repository.index(body, json);
        yield Status.OK;
      }
      case MODEL_LOAD -> {
        repository.load(route.model(), body);
        yield Status.OK;
      }
      case MODEL_UNLOAD -> {
        repository.unload(route.model(), body);
        yield Status.OK;
      }
      case MODEL_PROMOTE -> {
        repository.promote(model(route));
        yield Status.OK;
      }
      case SYSTEM_MEMORY_STATUS -> ok(() -> sharedMemory.status(route, json));
      case SYSTEM_MEMORY_REGISTER -> {
        sharedMemory.register(route, body);
        yield Status.OK;
      }
      case SYSTEM_MEMORY_UNREGISTER -> ok(() -> sharedMemory.unregister(route));
      case CUDA_MEMORY_STATUS -> ok(() -> sharedMemory.cudaStatus(route, json));
      case CUDA_MEMORY_REGISTER -> {
        sharedMemory.registerCuda(route, body);
        yield Status.OK;
      }
      case CUDA_MEMORY_UNREGISTER -> ok(() -> sharedMemory.unregisterCuda(route));
      case TRACE_SETTING -> {
        settings.trace(head, body, json);
        yield Status.OK;
      }
      case LOGGING -> {
        settings.logging(head, body, json);
        yield Status.OK;
      }
      case RECORDING -> {
        settings.recording(head, body, json);
        yield Status.OK;
      }
      case ADDED, ADDED_QUESTION -> {
        JsonEndpoints.at(route.name())
            .answer(new JsonEndpointCall(context, exchange, models, head, body), json);
        yield Status.OK;
      }
      default -> throw new IllegalStateException(route + " is not served here");
    };
  }

  /** Writes the reply for a failure; {@code head} is null if it could not be read. */
  void fail(ProtocolHead head, HttpFailure failure, Throwable cause, JsonBuffer json)
      throws IOException {
    json.clear();
    String known = failure.getMessage();
    String message = known == null ? failure.status().toString() : known;
    if (head != null && head.route().endpoint().isAdded()) {
      JsonEndpoints.at(head.route().name()).fail(failure.status().code(), message, cause, json);
      return;
    }
    json.ascii("{\"error\":").string(message).write('}');
  }

  private static Status ok(Runnable writing) {
    writing.run();
    return Status.OK;
  }

  private Nereid nereid() {
    return context.nereid();
  }

  private Model model(Route route) {
    return route.version() == 0
        ? nereid().model(route.model())
        : nereid().model(route.model(), route.version());
  }

  private Status health(Status status, JsonBuffer json) {
    if (!context.healthBodies()) {
      json.clear();
    }
    return status;
  }

  private Status serverLive(JsonBuffer json) {
    boolean live = context.health().isLive();
    json.ascii(live ? "{\"live\":true}" : "{\"live\":false}");
    return live ? Status.OK : Status.UNAVAILABLE;
  }

  private Status serverReady(JsonBuffer json) {
    boolean ready = context.health().isReady();
    json.ascii(ready ? "{\"ready\":true,\"live\":" : "{\"ready\":false,\"live\":")
        .ascii(context.health().isLive() ? "true}" : "false}");
    return ready ? Status.OK : Status.UNAVAILABLE;
  }

  private Status modelReady(Route route, JsonBuffer json) {
    boolean ready = context.health().isReady(route.model(), route.version());
    boolean known = context.health().isKnown(route.model(), route.version());
    if (!ready && !context.health().isLoading() && !known) {
      model(route); // throws if the model is missing
    }
    json.ascii("{\"name\":")
        .string(route.model())
        .ascii(ready ? ",\"ready\":true}" : ",\"ready\":false}");
    return ready ? Status.OK : Status.UNAVAILABLE;
  }
}
