package io.nereid.server.shared;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The frontends of one server that listen, by their protocols. From any thread. */
public final class Frontends {

  /**
   * The place at which a frontend listens.
   *
   * @param certificate the file of what it shows to clients; empty: connections are not encrypted
   * @param mutual whether each client has to show one, too
   */
  public record Place(InetAddress address, int port, Optional<Path> certificate, boolean mutual) {

    /** Its address for a client on this machine, such as {@code 127.0.0.1:8000}. */
    public String local() {
      InetAddress near = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
      String host = near.getHostAddress().replaceFirst("%.*", "");
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
  }

  private record Frontend(Place place, LongSupplier connections) {}

  private final Map<String, Frontend> known = new ConcurrentHashMap<>();

  /**
   * A frontend listens.
   *
   * @param protocol as metrics call it
   * @param connections how many it has open
   */
  public void add(String protocol, Place place, LongSupplier connections) {
    known.put(protocol, new Frontend(place, connections));
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
