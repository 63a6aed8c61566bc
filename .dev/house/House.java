package house;

import house.Sources.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Measures how the sources hang together, and holds each figure to its limit: {@code java
 * House.java ROOT}. The limits are lines {@code figure = number} of {@code house.txt}; the number
 * is the most that the figure may be. A figure above it prints the rule that it breaks and the
 * places that break it, a better one the line to write instead. A figure without a limit is only
 * printed; a limit without a figure fails.
 */
final class House {

  /** Where the limits and the rules are, below the root. */
  private static final String FOLDER = ".dev";

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

  /** How limits begin that a test holds, since only a run can measure their figures. */
  private static final String FROM_A_RUN = "files entered: ";

  private static final int MOST_LINES = 400;

  /** How comments begin that leave out what they are about, such as "Of one request." */
  private static final Pattern RIDDLE =
      Pattern.compile(
          "/\\*\\*\\s+(?:\\* +)?((?:Of|By|As(?! \\{@link)|Those|That of|Who|Whom) [^\n]*)");

  private static final Pattern PUBLIC =
      Pattern.compile("(?m)^public [a-z -]*\\b(class|record|interface|enum|@interface) ");

  private final Path root;
  private final Sources sources;

  private House(Path root) throws IOException {
    this.root = root;
    sources = Sources.read(root);
  }

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    House house = new House(root);
    System.exit(hold(house.figures(), limits(root.resolve(FOLDER + "/house.txt"))) ? 0 : 1);
  }

  private static Map<String, Long> limits(Path file) throws IOException {
    Map<String, Long> limits = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      if (!line.isBlank() && !line.startsWith("#") && !line.startsWith(FROM_A_RUN)) {
        String[] sides = line.split(" = ");
        limits.put(sides[0], Long.parseLong(sides[1]));
      }
    }
    return limits;
  }

  private List<Figure> figures() throws IOException {
    List<Figure> figures = new ArrayList<>();
    figures.addAll(sizes());
    figures.add(Comments.figure(root, sources.all().stream().map(Source::lines)));
    figures.addAll(structure());
    figures.addAll(Core.figures(root));
    figures.add(forbiddenUses());
    figures.addAll(Walks.read(sources, root).figures());
    return figures;
  }

  private List<Figure> sizes() throws IOException {
    long lines = sources.all().stream().mapToLong(source -> source.lines().size()).sum();
    return List.of(
        Figure.of("files", sources.all().size(), "A stranger reads fewer files sooner."),
        Figure.of("lines", lines, "A stranger reads fewer lines sooner."),
        commentDensity(),
        riddles(),
        longFiles(),
        Figure.of(
            "entries at the top of the tree",
            "A newcomer's eye wants a short list: what belongs together stands in one folder.",
            entries()));
  }

  private Figure commentDensity() {
    List<String> lines =
        sources.all().stream()
            .flatMap(source -> source.lines().stream())
            .map(String::strip)
            .filter(Predicate.not(String::isEmpty))
            .toList();
    long comments =
        lines.stream()
            .filter(line -> line.startsWith("//") || line.startsWith("/*") || line.startsWith("*"))
            .count();
    return Figure.of(
        "lines of comment in a hundred that are not empty",
        Math.round(100.0 * comments / Math.max(1, lines.size())),
        "A comment says what the code cannot.");
  }

  private Figure riddles() {
    List<String> places = new ArrayList<>();
    for (Source source : sources.all()) {
      RIDDLE
          .matcher(String.join("\n", source.lines()))
          .results()
          .forEach(riddle -> places.add(source.name() + ": " + riddle.group(1)));
    }
    return Figure.of(
        "comments that begin without a subject",
        "A sentence has a subject and a verb, and can be read alone.",
        places);
  }

  private Figure longFiles() {
    return Figure.of(
        "files over " + MOST_LINES + " lines",
        "A file has one job, which seldom takes more than " + MOST_LINES + " lines.",
        sources.all().stream()
            .filter(source -> source.lines().size() > MOST_LINES)
            .map(source -> source.fullName() + " " + source.lines().size())
            .toList());
  }

  /** Names in the root that a listing shows: hidden ones and those that git ignores are left out. */
  private List<String> entries() throws IOException {
    Set<String> ignored = new HashSet<>();
    Path file = root.resolve(".gitignore");
    if (Files.exists(file)) {
      Files.readAllLines(file).forEach(line -> ignored.add(line.replaceAll("/$", "")));
    }
    try (Stream<Path> entries = Files.list(root)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> !ignored.contains(name) && !name.matches("\\..*|.*\\.(iml|log)"))
          .sorted()
          .toList();
    }
  }

  private List<Figure> structure() {
    List<Set<String>> packages = Graph.circles(Graph.collapsed(sources.uses(), Graph::packageOf));
    Set<String> circle =
        Graph.circles(sources.uses()).stream()
            .max(Comparator.comparingInt(Set::size))
            .orElse(Set.of());
    Floors floors = new Floors(rooms("bindings/runtime", "io.nereid"));
    Floors server = new Floors(rooms("server", "io.nereid.server"));
    return List.of(
        namesUsedTwice(),
        Figure.of(
            "package cycles",
            "Packages stand on floors: one that uses another is not used by it.",
            packages.stream().map(Object::toString).toList()),
        new Figure(
            "largest file circle",
            Math.max(1, circle.size()),
            "Files that all need each other can only be read together.",
            circle),
        Figure.of("floors of the runtime", floors.count(), "A house has few floors."),
        Figure.of(
            "arrows back up in the runtime",
            "What stands below knows nothing of what stands above.",
            floors.backUp()),
        Figure.of("floors of the server", server.count(), "A house has few floors."),
        Figure.of(
            "arrows back up in the server",
            "A package of the server is not used by those that it uses.",
            server.backUp()),
        publicTypes(),
        layoutsOutside());
  }

  private Figure publicTypes() {
    return Figure.of(
        "public types",
        sources.all().stream().filter(source -> PUBLIC.matcher(source.code()).find()).count(),
        "A type is public only if another package needs it.");
  }

  private Figure namesUsedTwice() {
    return Figure.of(
        "class names used twice",
        "One name means one thing in the whole project.",
        sources.packagesByName().entrySet().stream()
            .filter(entry -> entry.getValue().size() > 1)
            .map(Object::toString)
            .toList());
  }

  private Figure layoutsOutside() {
    return Figure.of(
        "files with native offsets outside " + LAYOUTS,
        "Offsets and bare addresses of the C ABI are known in "
            + LAYOUTS
            + " only: it lends records and handles, which know their own address.",
        sources.all().stream()
            .filter(source ->
                source.packageName().equals(LAYOUTS)
                    ? LENT_ADDRESS.matcher(source.code()).find()
                    : USED_LAYOUT.matcher(source.code()).find())
            .map(Source::fullName)
            .toList());
  }

  /** The rooms of a module: each file of its root package, and each other package as a whole. */
  private Map<String, Set<String>> rooms(String module, String rootPackage) {
    return Graph.collapsed(
        sources.usesWithin(module),
        name -> Graph.packageOf(name).equals(rootPackage) ? name : Graph.packageOf(name));
  }

  private Figure forbiddenUses() throws IOException {
    List<Rules.Violation> violations =
        Rules.violations(sources, root.resolve(FOLDER + "/house/rules.txt"));
    Map<String, List<String>> byReason = new LinkedHashMap<>();
    for (Rules.Violation violation : violations) {
      byReason
          .computeIfAbsent(violation.because(), reason -> new ArrayList<>())
          .add("  " + violation.from() + " -> " + violation.to());
    }
    List<String> places = new ArrayList<>();
    byReason.forEach((reason, uses) -> {
      places.add(reason);
      places.addAll(uses);
    });
    return new Figure(
        "uses that a rule forbids",
        violations.size(),
        FOLDER + "/house/rules.txt says who may use whom:",
        places);
  }

  /** Prints each figure beside its limit; says whether all are within. */
  private static boolean hold(List<Figure> figures, Map<String, Long> limits) {
    Map<String, Long> left = new TreeMap<>(limits);
    boolean held = true;
    for (Figure figure : figures) {
      Long limit = left.remove(figure.name());
      System.out.printf(Locale.ROOT, "%-62s %,7d", figure.name(), figure.value());
      System.out.println(limit == null ? "" : String.format(Locale.ROOT, ", at most %,d", limit));
      if (limit != null && figure.value() > limit) {
        held = false;
        System.out.println("  " + figure.rule());
        figure.places().forEach(place -> System.out.println("    " + place));
      } else if (limit != null && figure.value() < limit) {
        System.out.printf("  It got better: write '%s = %d'.%n", figure.name(), figure.value());
      }
    }
    for (String name : left.keySet()) {
      held = false;
      System.out.println(
          FOLDER + "/house.txt has a limit for '" + name + "', which nothing measures.");
    }
    return held;
  }
}
