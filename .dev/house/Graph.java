package house;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** What can be told of who uses whom, be it files or packages: a map from each to what it uses. */
final class Graph {

  private Graph() {}

  static String packageOf(String fullName) {
    return fullName.substring(0, fullName.lastIndexOf('.'));
  }

  /** The same graph of larger things, each file being part of one. */
  static Map<String, Set<String>> collapsed(
      Map<String, Set<String>> graph, UnaryOperator<String> whole) {
    Map<String, Set<String>> collapsed = new TreeMap<>();
    graph.forEach((from, targets) -> {
      Set<String> used = collapsed.computeIfAbsent(whole.apply(from), name -> new TreeSet<>());
      targets.stream().map(whole).filter(to -> !to.equals(whole.apply(from))).forEach(used::add);
    });
    return collapsed;
  }

  /** The groups of two and more that all reach each other. */
  static List<Set<String>> circles(Map<String, Set<String>> graph) {
    return groups(graph).stream().filter(group -> group.size() > 1).toList();
  }

  /** All, in groups that reach each other; whoever reaches nobody who reaches it is alone. */
  static List<Set<String>> groups(Map<String, Set<String>> graph) {
    Map<String, Set<String>> reached = new HashMap<>();
    graph.keySet().forEach(node -> reached.put(node, reach(graph, node)));
    List<Set<String>> groups = new ArrayList<>();
    Set<String> done = new HashSet<>();
    for (String node : graph.keySet()) {
      if (done.add(node)) {
        Set<String> group = new TreeSet<>(reached.get(node));
        group.removeIf(other -> !reached.get(other).contains(node));
        group.add(node);
        done.addAll(group);
        groups.add(group);
      }
    }
    return groups;
  }

  private static Set<String> reach(Map<String, Set<String>> graph, String start) {
    Set<String> reached = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(graph.get(start));
    while (!open.isEmpty()) {
      String node = open.pop();
      if (reached.add(node)) {
        open.addAll(graph.getOrDefault(node, Set.of()));
      }
    }
    return reached;
  }
}
