package house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The lists of ARCHITECTURE.md that a stranger follows. A list stands below a line in bold letters,
 * {@code **Main line: HTTP**} or {@code **Representations of ...**}. The names in backticks that an
 * item has before its first colon are its files: {@code Name}, {@code folder/Name} where that alone
 * could be several, {@code Name.Nested}, or {@code name.cc} of the core. Each file of a main line
 * but the first uses one before it, or is used by one: nothing between them is left out.
 */
final class Walks {

  private static final Pattern TITLE =
      Pattern.compile("\\*\\*(Main line: .*|Representations of .*)\\*\\*");
  private static final Pattern ITEM = Pattern.compile("(?:-|\\d+\\.) ([^:]*)(?::.*)?");
  private static final Pattern NAME = Pattern.compile("`([^`]+)`");
  private static final Pattern INCLUDE = Pattern.compile("#include \"(?:[\\w/]*/)?(\\w+)\\.h\"");

  private static final String MAIN_LINE = "Main line";

  private final Sources sources;
  private final Map<String, Set<String>> core = new TreeMap<>();
  private final Map<String, Set<String>> walks = new LinkedHashMap<>();
  private final List<String> mistakes = new ArrayList<>();

  private Walks(Sources sources) {
    this.sources = sources;
  }

  static Walks read(Sources sources, Path root) throws IOException {
    Walks walks = new Walks(sources);
    walks.readCore(root.resolve("native"));
    walks.readDocument(Files.readAllLines(root.resolve("ARCHITECTURE.md")));
    walks.walks.forEach(walks::check);
    return walks;
  }

  /** The files of the core, and the names of those that each includes, all without endings. */
  private void readCore(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(path -> path.toString().matches(".*\\.(cc|h)")).toList()) {
        Set<String> included =
            core.computeIfAbsent(stem(file.getFileName().toString()), name -> new TreeSet<>());
        Matcher include = INCLUDE.matcher(Files.readString(file));
        while (include.find()) {
          included.add(include.group(1));
        }
      }
    }
  }

  private static String stem(String name) {
    return name.replaceAll("\\.(cc|h)$", "");
  }

  private void readDocument(List<String> lines) {
    Set<String> walk = null;
    for (String line : lines) {
      Matcher title = TITLE.matcher(line);
      Matcher item = ITEM.matcher(line);
      if (title.matches()) {
        walk = walks.computeIfAbsent(title.group(1), name -> new LinkedHashSet<>());
      } else if (walk != null && item.matches()) {
        NAME.matcher(item.group(1)).results().map(name -> name.group(1)).forEach(walk::add);
      } else if (!line.isBlank() && !line.startsWith(" ")) {
        walk = null;
      }
    }
  }

  private void check(String walk, Set<String> names) {
    List<String> before = new ArrayList<>();
    for (String name : names) {
      List<String> meant = meant(name);
      List<String> near = meant.stream().filter(file -> isNear(file, before)).toList();
      if (meant.isEmpty()) {
        mistakes.add(walk + ": `" + name + "` names no file");
      } else if (near.size() == 1 || !walk.startsWith(MAIN_LINE)) {
        before.addAll(near);
      } else if (near.isEmpty()) {
        mistakes.add(walk + ": `" + name + "` and the files before it do not use each other");
      } else {
        mistakes.add(walk + ": `" + name + "` names " + near + ": write folder/Name");
      }
    }
  }

  private boolean isNear(String file, List<String> before) {
    return before.isEmpty() || before.stream().anyMatch(other -> belong(file, other));
  }

  private List<String> meant(String name) {
    if (name.matches(".*\\.(cc|h)")) {
      String stem = stem(name.substring(name.lastIndexOf('/') + 1));
      return core.containsKey(stem) ? List.of(stem) : List.of();
    }
    String[] nested = name.split("\\.");
    return sources.meant(nested[0]).stream()
        .filter(full -> nested.length == 1 || declares(full, nested[1]))
        .toList();
  }

  private boolean declares(String fullName, String nested) {
    return Pattern.compile("\\b(class|record|interface|enum) " + nested + "\\b")
        .matcher(sources.named(fullName).code())
        .find();
  }

  private boolean belong(String file, String other) {
    Map<String, Set<String>> uses = core.containsKey(file) ? core : sources.uses();
    return file.equals(other)
        || uses.getOrDefault(file, Set.of()).contains(other)
        || uses.getOrDefault(other, Set.of()).contains(file);
  }

  List<Figure> figures() {
    List<Figure> figures = new ArrayList<>();
    walks.forEach((walk, names) ->
        figures.add(
            Figure.of(
                walk.startsWith(MAIN_LINE)
                    ? walk.replace(MAIN_LINE, "files on the main line")
                    : walk.substring(0, 1).toLowerCase(Locale.ROOT) + walk.substring(1),
                "A stranger follows the main line through few files; ARCHITECTURE.md lists them.",
                names)));
    figures.add(
        Figure.of(
            "steps of ARCHITECTURE.md that lead nowhere",
            "Each file of a list is there, and uses or is used by one that the list has before it.",
            mistakes));
    return figures;
  }
}
