package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.server.access.AccessControl;
import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * What all connections share.
 *
 * @param state the server
 * @param limits what clients may ask of the server
 * @param watch all connections
 * @param access which requests may be made
 * @param origins which web pages may make them
 * @param kept the fields of requests that the two look at, and those that become parameters
 * @param heap what connections and requests may hold of it
 * @param page all that is served; null: the protocol's endpoints are
 */
record HttpContext(
    ServerState state,
    HttpLimits limits,
    ConnectionWatch watch,
    AccessControl access,
    OriginCheck origins,
    KeptFields kept,
    HeapBudget heap,
    Page page) {

  /** What gets a line for each request, if anything does. */
  Optional<AccessLog> accessLog() {
    return page == null ? state.accessLog() : Optional.empty();
  }

  /** With what the options say. */
  static HttpContext of(
      ServerState state, HttpOptions options, ConnectionWatch watch, HeapBudget heap, Page page) {
    OriginCheck origins = new OriginCheck(options.allowedOrigins());
    Set<String> kept = new HashSet<>(options.access().fieldNames());
    kept.addAll(origins.fieldNames());
    return new HttpContext(
        state,
        options.limits(),
        watch,
        options.access(),
        origins,
        KeptFields.of(kept, OriginCheck.FIELDS_OF_CHANGES, options.forwarding()),
        heap,
        page);
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
