package io.nereid.server.shared;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The listening frontends of one server, by protocol. Any thread may call. */
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

  /** Notes the port at which metrics are served. */
  public void metricsAt(int port) {
    metricsPort = OptionalInt.of(port);
  }

  /** The port at which metrics are served; empty: they are not. */
  public OptionalInt metricsPort() {
    return metricsPort;
  }

  /**
   * Adds a frontend that listens.
   *
   * @param protocol the protocol's name in metrics
   * @param connections counts its open connections
   */
  public void add(String protocol, Place place, LongSupplier connections) {
    known.put(protocol, new Frontend(place, connections));
  }

  /** The failed connections of a port, by its name in metrics. */
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
