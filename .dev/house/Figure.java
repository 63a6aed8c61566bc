package house;

import java.util.Collection;
import java.util.List;

/** One figure: what is counted, the count, the rule behind it, and the places that count. */
record Figure(String name, long value, String rule, Collection<String> places) {

  /** A figure that has no places to show. */
  static Figure of(String name, long value, String rule) {
    return new Figure(name, value, rule, List.of());
  }

  /** A figure that counts its places. */
  static Figure of(String name, String rule, Collection<String> places) {
    return new Figure(name, places.size(), rule, places);
  }
}
