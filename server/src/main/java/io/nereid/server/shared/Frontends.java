package io.nereid.server.shared;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The frontends of one server that listen, by their protocols. From any thread. */
public final class Frontends {

  /**
   * The place at which a frontend listens.
   *
   * @param encrypted whether its connections are encrypted
   */
  public record Place(int port, boolean encrypted) {}

  private record Frontend(Place place, LongSupplier connections) {}

  private final Map<String, Frontend> known = new ConcurrentHashMap<>();
  private final Map<String, ConnectionFailures> failures = new ConcurrentSkipListMap<>();
  private volatile OptionalInt metricsPort = OptionalInt.empty();

  /** Metrics are served at this port. */
  public void metricsAt(int port) {
    metricsPort = OptionalInt.of(port);
  }

  /** The port at which metrics are served; empty: they are not. */
  public OptionalInt metricsPort() {
    return metricsPort;
  }

  /**
   * A frontend listens.
   *
   * @param protocol as metrics call it
   * @param connections how many it has open
   */
  public void add(String protocol, Place place, LongSupplier connections) {
    known.put(protocol, new Frontend(place, connections));
  }

  /** The connections of a port that failed, by the name that metrics give it. */
  public ConnectionFailures failures(String protocol) {
    return failures.computeIfAbsent(protocol, name -> new ConnectionFailures());
  }

  /** The connections that failed, by protocol. */
  public Map<String, ConnectionFailures> failures() {
    return failures;
  }

  /** The place at which a protocol is served; empty: it is not. */
  public Optional<Place> place(String protocol) {
    return Optional.ofNullable(known.get(protocol)).map(Frontend::place);
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
