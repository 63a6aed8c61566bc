package io.nereid.server.grpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.proto.health.GrpcHealth;
import io.nereid.proto.health.HealthCheckRequest;
import io.nereid.proto.health.HealthCheckResponse;
import io.nereid.proto.health.HealthCheckResponse.ServingStatus;
import io.nereid.proto.health.HealthListRequest;
import io.nereid.proto.health.HealthListResponse;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Health checking as gRPC defines it: of the server, by no name or the inference service's, and of
 * each model, by its own. It stores no status: it reads the server's state at each request and, for
 * watching clients, at each change.
 */
final class HealthService implements LifecycleListener, AutoCloseable {

  /** The service's full name. */
  static final String NAME = MethodGroups.HEALTH_SERVICE;

  /** The longest name that a model can have. */
  private static final int MOST_NAME_BYTES = 255;

  private static final List<String> SERVER_NAMES = List.of("", InferenceService.NAME);

  private final Nereid nereid;
  private final ServerHealth health;

  /**
   * Clients that watch, by the name of what they watch. The lock is held for notifications, too, so
   * the last status sent is also the last one read.
   */
  @GuardedBy("this")
  private final Map<String, Set<Watcher>> watchers = new HashMap<>();

  /**
   * The listener to the server's health, kept in a field because removing it takes the same object.
   */
  private final Runnable serverListener = this::tellEverybody;

  /** Follows the states of the server and its models, until it is closed. */
  HealthService(ServerState state) {
    nereid = state.nereid();
    health = state.health();
    nereid.addListener(this);
    health.addListener(serverListener);
  }

  ServerServiceDefinition definition() {
    HealthCheckRequest request = HealthCheckRequest.getDefaultInstance();
    return new ServiceMethods(NAME, () -> GrpcHealth.getDescriptor().findServiceByName("Health"))
        .add("Check", request, this::check)
        .add("List", HealthListRequest.getDefaultInstance(), this::list)
        .addStreaming("Watch", request, this::watch)
        .definition();
  }

  private HealthCheckResponse check(HealthCheckRequest request) {
    checkName(request.getService());
    ServingStatus status = status(request.getService());
    if (status == ServingStatus.SERVICE_UNKNOWN) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "unknown service '" + request.getService() + "'");
    }
    return response(status);
  }

  private HealthListResponse list(HealthListRequest request) {
    HealthListResponse.Builder all = HealthListResponse.newBuilder();
    SERVER_NAMES.forEach(name -> all.putStatuses(name, response(status(name))));
    nereid.models().stream()
        .map(Model::name)
        .distinct()
        .filter(name -> health.isKnown(name, 0))
        .forEach(name -> all.putStatuses(name, response(status(name))));
    return all.build();
  }

  private void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> client) {
    try {
      checkName(request.getService());
    } catch (NereidException e) {
      client.onError(GrpcStatus.of(e).asRuntimeException());
      return;
    }
    Watcher watcher =
        new Watcher(request.getService(), (ServerCallStreamObserver<HealthCheckResponse>) client);
    watcher.client.setOnCancelHandler(() -> remove(watcher));
    watcher.client.setOnReadyHandler(() -> tell(watcher));
    synchronized (this) {
      watchers.computeIfAbsent(watcher.service, name -> new HashSet<>()).add(watcher);
      watcher.tell();
    }
    if (health.isStopping()) {
      stop();
    }
  }

  private synchronized void tell(Watcher watcher) {
    watcher.tell();
  }

  private synchronized void remove(Watcher watcher) {
    Set<Watcher> others = watchers.get(watcher.service);
    if (others != null && others.remove(watcher) && others.isEmpty()) {
      watchers.remove(watcher.service);
    }
  }

  /** Tells clients that watch the model or the server, whose status may depend on the model. */
  @Override
  public synchronized void onEvent(ModelEvent event) {
    SERVER_NAMES.forEach(this::tellAll);
    tellAll(event.model());
  }

  private synchronized void tellEverybody() {
    watchers.keySet().forEach(this::tellAll);
  }

  @GuardedBy("this")
  private void tellAll(String service) {
    watchers.getOrDefault(service, Set.of()).forEach(Watcher::tell);
  }

  /**
   * Tells all watching clients that the server stops, and ends their calls, which would delay it.
   */
  void stop() {
    nereid.removeListener(this);
    synchronized (this) {
      watchers.values().forEach(all -> all.forEach(Watcher::end));
      watchers.clear();
    }
  }

  /** Does what {@link #stop} does, and follows no more changes. */
  @Override
  public void close() {
    stop();
    health.removeListener(serverListener);
  }

  private ServingStatus status(String service) {
    if (SERVER_NAMES.contains(service)) {
      return health.isReady() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    }
    if (health.isReady(service, 0)) {
      return ServingStatus.SERVING;
    }
    return health.isKnown(service, 0) ? ServingStatus.NOT_SERVING : ServingStatus.SERVICE_UNKNOWN;
  }

  /** Refuses names that no model can have: a watch keeps its name for as long as it lasts. */
  private static void checkName(String service) {
    int bytes = service.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MOST_NAME_BYTES) {
      throw GrpcStatus.invalidArgument(
          "expected a service's name of at most %s bytes, as models have, got %s bytes"
              .formatted(MOST_NAME_BYTES, bytes));
    }
  }

  private static HealthCheckResponse response(ServingStatus status) {
    return HealthCheckResponse.newBuilder().setStatus(status).build();
  }

  /** A client that watches; guarded by the service. */
  private final class Watcher {
    private final String service;
    private final ServerCallStreamObserver<HealthCheckResponse> client;
    private ServingStatus told;
    private boolean ended;

    Watcher(String service, ServerCallStreamObserver<HealthCheckResponse> client) {
      this.service = service;
      this.client = client;
    }

    /** Sends a changed status. A slow client gets the latest once it reads. */
    void tell() {
      if (ended || !client.isReady() || client.isCancelled()) {
        return;
      }
      ServingStatus now = status(service);
      if (now != told) {
        told = now;
        client.onNext(response(now));
      }
    }

    void end() {
      tell();
      ended = true;
      if (!client.isCancelled()) {
        client.onError(GrpcStatus.STOPPING.asRuntimeException());
      }
    }
  }
}
