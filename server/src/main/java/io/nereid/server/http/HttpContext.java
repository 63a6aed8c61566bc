package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.server.access.AccessControl;
import io.nereid.server.console.Console;
import io.nereid.server.json.JsonReader;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import io.nereid.server.wire.RequestBody;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * What the handlers of all connections share.
 *
 * @param state the server
 * @param limits what clients may ask of the server
 * @param access which requests may be made
 * @param origins which web pages may make them
 * @param kept the fields of requests that the two look at, and those that become parameters
 * @param console the console; empty: there is none
 */
record HttpContext(
    ServerState state,
    HttpLimits limits,
    AccessControl access,
    OriginCheck origins,
    ProtocolHead.KeptFields kept,
    Optional<Console> console) {

  /** With what the options say. */
  static HttpContext of(ServerState state, HttpOptions options) {
    OriginCheck origins = new OriginCheck(options.allowedOrigins());
    Set<String> kept = new HashSet<>(options.access().fieldNames());
    kept.addAll(origins.fieldNames());
    options.console().ifPresent(served -> kept.addAll(ConsoleRoute.FIELDS));
    return new HttpContext(
        state,
        options.limits(),
        options.access(),
        origins,
        ProtocolHead.KeptFields.of(kept, OriginCheck.FIELDS_OF_CHANGES, options.forwarding()),
        options.console().map(served -> new Console(state, served)));
  }

  /** Reads a body that is a JSON object; an empty body is an empty object. */
  void readObject(RequestBody body, JsonReader.MemberReader members) throws IOException {
    new JsonReader(limits.jsonDepth()).reset(body, Long.MAX_VALUE).readObject(members, true);
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
