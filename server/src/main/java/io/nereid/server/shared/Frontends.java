package io.nereid.server.shared;

import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The frontends of one server that listen, by their protocols. From any thread. */
public final class Frontends {

  private record Frontend(int port, LongSupplier connections) {}

  private final Map<String, Frontend> known = new ConcurrentHashMap<>();

  /**
   * A frontend listens.
   *
   * @param protocol as metrics call it
   * @param connections how many it has open
   */
  public void add(String protocol, int port, LongSupplier connections) {
    known.put(protocol, new Frontend(port, connections));
  }

  /** Where a protocol is served; empty: it is not. */
  public OptionalInt port(String protocol) {
    Frontend frontend = known.get(protocol);
    return frontend == null ? OptionalInt.empty() : OptionalInt.of(frontend.port);
  }

  /** Open connections by protocol. */
  public Map<String, Long> connections() {
    return known.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                frontend -> frontend.getValue().connections.getAsLong(),
                (one, other) -> one,
                TreeMap::new));
  }
}
