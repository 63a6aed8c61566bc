package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.server.access.AccessControl;
import io.nereid.server.shared.HeaderForwarding;
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
 * @param heap what requests may hold of it
 * @param forwarding which header fields become parameters; empty: none
 */
record HttpContext(
    ServerState state,
    HttpLimits limits,
    ConnectionWatch watch,
    AccessControl access,
    HeapBudget heap,
    Optional<HeaderForwarding> forwarding) {

  /** Without header fields that become parameters. */
  HttpContext(
      ServerState state,
      HttpLimits limits,
      ConnectionWatch watch,
      AccessControl access,
      HeapBudget heap) {
    this(state, limits, watch, access, heap, Optional.empty());
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
