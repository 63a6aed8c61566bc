package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.server.access.AccessControl;
import io.nereid.server.json.JsonReader;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.shared.JsonEndpoints;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The parts that the handlers of all connections share.
 *
 * @param state the server
 * @param limits what clients may ask of the server
 * @param access which requests may be made
 * @param origins which web pages may make them
 * @param forwarding which header fields become parameters; empty: none
 * @param console the console's pages; empty: there is none
 * @param arriving the large tensors that are being sent
 * @param healthBodies whether answers about health have a body
 */
record HttpContext(
    ServerState state,
    HttpLimits limits,
    AccessControl access,
    OriginCheck origins,
    Optional<HeaderForwarding> forwarding,
    Optional<ConsoleProvider.Pages> console,
    ArrivingTensors arriving,
    boolean healthBodies) {

  /** Makes the context from the options. */
  static HttpContext of(ServerState state, HttpOptions options) {
    return new HttpContext(
        state,
        options.limits(),
        options.access(),
        new OriginCheck(options.allowedOrigins()),
        options.forwarding(),
        options.console().map(provider -> provider.open(state)),
        new ArrivingTensors(state.nereid().poolStatistics().byteLimit(), state.refusedTensors()),
        options.healthBodies());
  }

  /** Reads a body that is a JSON object; an empty body is an empty object. */
  void readObject(RequestBody body, JsonReader.MemberReader members) throws IOException {
    new JsonReader(limits.jsonDepth()).reset(body, Long.MAX_VALUE).readObject(members, true);
  }

  /** The failure of a request for a path at which there is nothing. */
  HttpFailure notFound(String path) {
    if (path.startsWith("/v1/") && JsonEndpoints.all().isEmpty()) {
      return new HttpFailure(
          Status.NOT_FOUND,
          "Not Found: nereid-text serves /v1/embeddings and /v1/rerank, and is not on the class"
              + " path");
    }
    OptionalInt port = state.frontends().metricsPort();
    return new HttpFailure(
        Status.NOT_FOUND,
        path.equals("/metrics") && port.isPresent()
            ? "Not Found: metrics are served at port " + port.getAsInt()
            : "Not Found");
  }

  Nereid nereid() {
    return state.nereid();
  }

  Tracing tracing() {
    return state.tracing();
  }

  ServerHealth health() {
    return state.health();
  }
}
