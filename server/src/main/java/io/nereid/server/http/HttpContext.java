package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.server.access.AccessControl;
import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import java.util.Optional;

/**
 * What all connections share.
 *
 * @param state the server
 * @param limits what clients may ask of the server
 * @param watch all connections
 * @param access which requests may be made
 * @param heap what connections and requests may hold of it
 * @param page all that is served; null: the protocol's endpoints are
 */
record HttpContext(
    ServerState state,
    HttpLimits limits,
    ConnectionWatch watch,
    AccessControl access,
    HeapBudget heap,
    Page page) {

  /** Where the protocol's endpoints are served. */
  HttpContext(
      ServerState state,
      HttpLimits limits,
      ConnectionWatch watch,
      AccessControl access,
      HeapBudget heap) {
    this(state, limits, watch, access, heap, null);
  }

  /** What gets a line for each request, if anything does. */
  Optional<AccessLog> accessLog() {
    return page == null ? state.accessLog() : Optional.empty();
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
