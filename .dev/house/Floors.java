package house;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The rooms of a module from top to bottom, in an order that few arrows run against. */
final class Floors {

  private final Map<String, Set<String>> graph;
  private final Map<String, Integer> places = new HashMap<>();

  Floors(Map<String, Set<String>> graph) {
    this.graph = graph;
    for (Set<String> group : fromTheTop()) {
      for (String room : bestOrder(group)) {
        places.put(room, places.size());
      }
    }
  }

  /** The groups of rooms that reach each other; each group stands above those that it uses. */
  private List<Set<String>> fromTheTop() {
    List<Set<String>> left = new ArrayList<>(Graph.groups(graph));
    List<Set<String>> ordered = new ArrayList<>();
    while (!left.isEmpty()) {
      Set<String> top =
          left.stream()
              .filter(
                  group -> left.stream().noneMatch(other -> other != group && uses(other, group)))
              .findFirst()
              .orElseThrow();
      left.remove(top);
      ordered.add(top);
    }
    return ordered;
  }

  private boolean uses(Set<String> group, Set<String> other) {
    return group.stream().anyMatch(room -> graph.get(room).stream().anyMatch(other::contains));
  }

  /** Of a few orders to begin with, what becomes the best one. */
  private List<String> bestOrder(Set<String> group) {
    Map<String, Set<String>> within = new TreeMap<>();
    for (String room : group) {
      Set<String> used = new TreeSet<>(graph.get(room));
      used.retainAll(group);
      within.put(room, used);
    }
    List<String> byName = List.copyOf(within.keySet());
    List<String> byUses = new ArrayList<>(byName);
    byUses.sort(Comparator.comparingInt((String room) -> balance(within, room)).reversed());
    return List.of(byName, byName.reversed(), byUses).stream()
        .map(start -> bettered(within, start))
        .min(Comparator.comparingInt(order -> backUp(within, order).size()))
        .orElseThrow();
  }

  /** How many rooms a room uses, less how many use it. */
  private static int balance(Map<String, Set<String>> graph, String room) {
    long users = graph.values().stream().filter(used -> used.contains(room)).count();
    return graph.get(room).size() - (int) users;
  }

  /** Each room goes to where it is best, until none can be bettered. */
  private static List<String> bettered(Map<String, Set<String>> graph, List<String> start) {
    List<String> order = new ArrayList<>(start);
    boolean moved = true;
    while (moved) {
      moved = false;
      for (String room : graph.keySet()) {
        int from = order.indexOf(room);
        int best = from;
        int fewest = backUp(graph, order).size();
        for (int to = 0; to < order.size(); to++) {
          order.remove(room);
          order.add(to, room);
          int against = backUp(graph, order).size();
          if (against < fewest) {
            fewest = against;
            best = to;
          }
        }
        order.remove(room);
        order.add(best, room);
        moved |= best != from;
      }
    }
    return order;
  }

  private static List<String> backUp(Map<String, Set<String>> graph, List<String> order) {
    Map<String, Integer> places = new HashMap<>();
    order.forEach(room -> places.put(room, places.size()));
    return backUp(graph, places);
  }

  private static List<String> backUp(Map<String, Set<String>> graph, Map<String, Integer> places) {
    List<String> arrows = new ArrayList<>();
    graph.forEach((from, targets) -> {
      for (String to : targets) {
        if (places.get(from) > places.get(to)) {
          arrows.add(from + " -> " + to);
        }
      }
    });
    return arrows;
  }

  /** The uses that run from a lower room to a higher one. */
  List<String> backUp() {
    return backUp(graph, places);
  }

  /** The longest way down, counted in rooms. */
  int count() {
    List<String> fromBelow = new ArrayList<>(places.keySet());
    fromBelow.sort(Comparator.comparing(places::get).reversed());
    Map<String, Integer> floors = new HashMap<>();
    for (String room : fromBelow) {
      int below =
          graph.get(room).stream()
              .filter(to -> places.get(to) > places.get(room))
              .mapToInt(floors::get)
              .max()
              .orElse(0);
      floors.put(room, below + 1);
    }
    return floors.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}
