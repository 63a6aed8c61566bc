package io.nereid.server.grpc;

import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;

/** How the server is, and what it is. */
final class ServerMethods {

  private final ServerState state;
  private final ServerHealth health;

  ServerMethods(ServerState state) {
    this.state = state;
    health = state.health();
  }

  ServerLiveResponse live(ServerLiveRequest request) {
    return ServerLiveResponse.newBuilder().setLive(health.isLive()).build();
  }

  ServerReadyResponse ready(ServerReadyRequest request) {
    return ServerReadyResponse.newBuilder().setReady(health.isReady()).build();
  }

  /** A model that is not there is not ready, which is no failure. */
  ModelReadyResponse modelReady(ModelReadyRequest request) {
    boolean ready = health.isReady(request.getName(), ModelVersions.parse(request.getVersion()));
    return ModelReadyResponse.newBuilder().setReady(ready).build();
  }

  ServerMetadataResponse metadata(ServerMetadataRequest request) {
    return ServerMetadataResponse.newBuilder()
        .setName(state.name())
        .setVersion(ServerFacts.version())
        .addAllExtensions(ServerFacts.extensions(state))
        .build();
  }
}
