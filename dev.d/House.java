import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Measures how the Java sources hang together and holds each figure to its limit: {@code java
 * House.java ROOT LIMITS}. LIMITS has lines {@code figure = number}; the number is the most that
 * the figure may be. A figure that got better prints the line to write instead; one without a limit
 * is only printed.
 */
final class House {
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?(io\\.nereid[a-z0-9_.]*)\\.([A-Z]\\w*)");
  private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*");

  /** Comments, text blocks, strings and characters: a name in one of them is no dependency. */
  private static final Pattern NO_CODE =
      Pattern.compile(
          "(?s)/\\*.*?\\*/|//[^\n"
              + "]*|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n"
              + "]|\\\\.)*\"|'(?:[^'\\\\\n"
              + "]|\\\\.)+'");

  private static final String LAYOUTS = "io.nereid.internal.ffi";

  /** What only that package may use: plain memory, layouts, and functions of the core. */
  private static final Pattern USED_LAYOUT =
      Pattern.compile(
          "\\b"
              + LAYOUTS.replace(".", "\\.")
              + "\\.(Memory|Handles|ErrorRecord|\\w+Layout|(?!Native)\\w+Calls)\\b");

  /** How that package would lend an address: a public static method that is given one. */
  private static final Pattern LENT_ADDRESS =
      Pattern.compile(
          "public static [\\w<>\\[\\], ]+\\([^)]*"
              + "\\blong (address|batch|error|model|options|record|request|runtime|tensor)\\b");

  private static final int MOST_LINES = 400;

  /** A source file: what it is called, how long it is, and which other files it uses. */
  private record Source(
      String module, String packageName, String name, List<String> lines, String code) {
    String fullName() {
      return packageName + "." + name;
    }
  }

  /** One figure: what is counted, the count, the rule behind it, and the places that count. */
  private record Figure(String name, long value, String rule, Collection<String> places) {}

  private final List<Source> sources = new ArrayList<>();
  private final Map<String, Source> byName = new HashMap<>();
  private final Map<String, Set<String>> uses = new TreeMap<>();

  public static void main(String[] args) throws IOException {
    House house = new House();
    house.read(Path.of(args[0]));
    System.exit(house.hold(limits(Path.of(args[1]))) ? 0 : 1);
  }

  private static Map<String, Long> limits(Path file) throws IOException {
    Map<String, Long> limits = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        String[] sides = line.split(" = ");
        limits.put(sides[0], Long.parseLong(sides[1]));
      }
    }
    return limits;
  }

  private void read(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(House::counts).sorted().toList()) {
        List<String> lines = Files.readAllLines(file);
        String text = String.join("\n", lines);
        Matcher declared = PACKAGE.matcher(text);
        if (declared.find()) {
          String path = root.relativize(file).toString();
          String name = file.getFileName().toString().replace(".java", "");
          String module = path.substring(0, path.indexOf("/src/"));
          sources.add(
              new Source(
                  module, declared.group(1), name, lines, NO_CODE.matcher(text).replaceAll(" ")));
        }
      }
    }
    sources.forEach(source -> byName.put(source.fullName(), source));
    sources.forEach(source -> uses.put(source.fullName(), used(source)));
  }

  private static boolean counts(Path file) {
    String path = file.toString();
    return path.endsWith(".java")
        && path.contains("/src/main/java/")
        && !path.contains("/target/")
        && !path.contains("/build/")
        && !path.contains("/examples/")
        && !path.endsWith("-info.java");
  }

  /** The files whose types a file names: those it imports, and those of its own package. */
  private Set<String> used(Source source) {
    Set<String> used = new TreeSet<>();
    Matcher imported = IMPORT.matcher(source.code());
    while (imported.find()) {
      used.add(imported.group(1) + "." + imported.group(2));
    }
    Matcher named = NAME.matcher(source.code());
    while (named.find()) {
      used.add(source.packageName() + "." + named.group());
    }
    used.retainAll(byName.keySet());
    used.remove(source.fullName());
    return used;
  }

  private List<Figure> figures() {
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure("files", sources.size(), "A stranger reads fewer files sooner.", List.of()));
    figures.add(
        new Figure(
            "lines",
            sources.stream().mapToLong(source -> source.lines().size()).sum(),
            "A stranger reads fewer lines sooner.",
            List.of()));
    figures.add(commentDensity());
    figures.add(longFiles());
    figures.add(namesUsedTwice());
    List<Set<String>> packageCircles = circles(packages());
    figures.add(
        new Figure(
            "package cycles",
            packageCircles.size(),
            "Packages stand on floors: one that uses another is not used by it.",
            packageCircles.stream().map(Object::toString).toList()));
    Set<String> circle = largest(circles(uses));
    figures.add(
        new Figure(
            "largest file circle",
            Math.max(1, circle.size()),
            "Files that all need each other can only be read together.",
            circle));
    Floors floors = new Floors(rooms("bindings/runtime", "io.nereid"));
    figures.add(
        new Figure("floors of the runtime", floors.count(), "A house has few floors.", List.of()));
    figures.add(
        new Figure(
            "arrows back up in the runtime",
            floors.backUp().size(),
            "What stands below knows nothing of what stands above.",
            floors.backUp()));
    figures.add(layoutsOutside());
    return figures;
  }

  private Figure commentDensity() {
    long comments = 0;
    long code = 0;
    for (Source source : sources) {
      for (String line : source.lines()) {
        String text = line.strip();
        if (text.startsWith("//") || text.startsWith("/*") || text.startsWith("*")) {
          comments++;
        } else if (!text.isEmpty()) {
          code++;
        }
      }
    }
    return new Figure(
        "lines of comment in a hundred that are not empty",
        Math.round(100.0 * comments / (comments + code)),
        "A comment says what the code cannot.",
        List.of());
  }

  private Figure longFiles() {
    List<String> places =
        sources.stream()
            .filter(source -> source.lines().size() > MOST_LINES)
            .map(source -> source.fullName() + " " + source.lines().size())
            .toList();
    return new Figure(
        "files over " + MOST_LINES + " lines",
        places.size(),
        "A file has one job, which seldom takes more than " + MOST_LINES + " lines.",
        places);
  }

  private Figure namesUsedTwice() {
    Map<String, Set<String>> places = new TreeMap<>();
    for (Source source : sources) {
      places.computeIfAbsent(source.name(), name -> new TreeSet<>()).add(source.packageName());
    }
    places.values().removeIf(packages -> packages.size() < 2);
    return new Figure(
        "class names used twice",
        places.size(),
        "One name means one thing in the whole project.",
        places.entrySet().stream().map(Object::toString).toList());
  }

  private Figure layoutsOutside() {
    List<String> places =
        sources.stream()
            .filter(source ->
                source.packageName().equals(LAYOUTS)
                    ? LENT_ADDRESS.matcher(source.code()).find()
                    : USED_LAYOUT.matcher(source.code()).find())
            .map(Source::fullName)
            .toList();
    return new Figure(
        "files with native offsets outside " + LAYOUTS,
        places.size(),
        "Offsets and bare addresses of the C ABI are known in "
            + LAYOUTS
            + " only: it lends records and handles, which know their own address.",
        places);
  }

  private Map<String, Set<String>> packages() {
    return collapsed(uses, House::packageOf);
  }

  /** The rooms of a module: each file of its root package, and each other package as a whole. */
  private Map<String, Set<String>> rooms(String module, String rootPackage) {
    Map<String, Set<String>> own = new TreeMap<>();
    for (Source source : sources) {
      if (source.module().equals(module)) {
        Set<String> used = new TreeSet<>(uses.get(source.fullName()));
        used.removeIf(name -> !byName.get(name).module().equals(module));
        own.put(source.fullName(), used);
      }
    }
    return collapsed(own, name -> packageOf(name).equals(rootPackage) ? name : packageOf(name));
  }

  private static String packageOf(String fullName) {
    return fullName.substring(0, fullName.lastIndexOf('.'));
  }

  private static Map<String, Set<String>> collapsed(
      Map<String, Set<String>> graph, UnaryOperator<String> room) {
    Map<String, Set<String>> collapsed = new TreeMap<>();
    graph.forEach((from, targets) -> {
      Set<String> rooms = collapsed.computeIfAbsent(room.apply(from), name -> new TreeSet<>());
      targets.stream().map(room).filter(to -> !to.equals(room.apply(from))).forEach(rooms::add);
    });
    return collapsed;
  }

  private static Set<String> largest(List<Set<String>> circles) {
    Set<String> largest = Set.of();
    for (Set<String> circle : circles) {
      largest = circle.size() > largest.size() ? circle : largest;
    }
    return largest;
  }

  /** The groups of two and more nodes that all reach each other. */
  private static List<Set<String>> circles(Map<String, Set<String>> graph) {
    Map<String, Set<String>> reached = new HashMap<>();
    graph.keySet().forEach(node -> reached.put(node, reach(graph, node)));
    List<Set<String>> circles = new ArrayList<>();
    Set<String> done = new HashSet<>();
    for (String node : graph.keySet()) {
      if (done.contains(node) || !reached.get(node).contains(node)) {
        continue;
      }
      Set<String> circle = new TreeSet<>(reached.get(node));
      circle.removeIf(other -> !reached.get(other).contains(node));
      done.addAll(circle);
      if (circle.size() > 1) {
        circles.add(circle);
      }
    }
    return circles;
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

  /** The rooms of a module from top to bottom, in an order that few arrows run against. */
  private static final class Floors {
    private final Map<String, Set<String>> graph;
    private final List<String> order;

    Floors(Map<String, Set<String>> graph) {
      this.graph = graph;
      order = new ArrayList<>(graph.keySet());
      // Each room goes to where it is best, until none can be bettered: nearly the best order of
      // all.
      while (moveEach()) {}
    }

    private boolean moveEach() {
      boolean moved = false;
      for (String room : graph.keySet()) {
        int from = order.indexOf(room);
        int best = from;
        long fewest = backUp().size();
        for (int to = 0; to < order.size(); to++) {
          move(room, to);
          long against = backUp().size();
          if (against < fewest) {
            fewest = against;
            best = to;
          }
        }
        move(room, best);
        moved |= best != from;
      }
      return moved;
    }

    private void move(String room, int to) {
      order.remove(room);
      order.add(to, room);
    }

    private Map<String, Integer> places() {
      Map<String, Integer> places = new HashMap<>();
      order.forEach(room -> places.put(room, places.size()));
      return places;
    }

    List<String> backUp() {
      List<String> arrows = new ArrayList<>();
      Map<String, Integer> places = places();
      graph.forEach((from, targets) -> {
        for (String to : targets) {
          if (places.get(from) > places.get(to)) {
            arrows.add(from + " -> " + to);
          }
        }
      });
      return arrows;
    }

    /** The longest way down, counted in rooms. */
    int count() {
      Map<String, Integer> places = places();
      Map<String, Integer> floor = new HashMap<>();
      for (String room : order.reversed()) {
        int below = 0;
        for (String to : graph.get(room)) {
          if (places.get(to) > places.get(room)) {
            below = Math.max(below, floor.get(to));
          }
        }
        floor.put(room, below + 1);
      }
      return floor.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    }
  }

  /** Prints each figure beside its limit; says whether all are within. */
  private boolean hold(Map<String, Long> limits) {
    boolean held = true;
    for (Figure figure : figures()) {
      Long limit = limits.get(figure.name());
      System.out.printf(Locale.ROOT, "%-62s %,7d", figure.name(), figure.value());
      System.out.println(limit == null ? "" : String.format(Locale.ROOT, ", at most %,d", limit));
      if (limit == null) {
        continue;
      }
      if (figure.value() > limit) {
        held = false;
        System.out.println("  " + figure.rule());
        figure.places().forEach(place -> System.out.println("    " + place));
      } else if (figure.value() < limit && !figure.places().isEmpty()) {
        System.out.printf("  It got better: write '%s = %d'.%n", figure.name(), figure.value());
      }
    }
    return held;
  }
}
