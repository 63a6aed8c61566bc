package house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The C++ of the product and of its benchmarks: its size, and which folder of it needs which. */
final class Core {

  private static final Pattern INCLUDE =
      Pattern.compile("#include \"((?:core/)?\\w+)/\\w+\\.h\"");

  private final Map<String, Set<String>> folders = new TreeMap<>();
  private long lines;

  private Core() {}

  /** Counts the native folder of a tree; a tree without one has no figures. */
  static List<Figure> figures(Path root) throws IOException {
    Path folder = root.resolve("native");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    Core core = new Core();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Core::isCounted).toList()) {
        core.read(folder.relativize(file).getParent().toString(), Files.readAllLines(file));
      }
    }
    core.folders.values().forEach(used -> used.retainAll(core.folders.keySet()));
    Floors floors = new Floors(core.folders);
    return List.of(
        Figure.of("lines of C++", core.lines, "A stranger reads fewer lines sooner."),
        Figure.of("floors of the C++", floors.count(), "A house has few floors."),
        Figure.of(
            "arrows back up in the C++",
            "A folder is not included by those that it includes.",
            floors.backUp()),
        Figure.of(
            "pairs of C++ folders that need each other", "Two folders that need each other are one.",
            core.pairs()));
  }

  static boolean isCounted(Path file) {
    return file.toString().matches(".*\\.(cc|h)") && !file.toString().contains("/native/test/");
  }

  private void read(String folder, List<String> text) {
    lines += text.size();
    Set<String> used = folders.computeIfAbsent(folder, name -> new TreeSet<>());
    for (String line : text) {
      Matcher include = INCLUDE.matcher(line);
      if (include.matches() && !include.group(1).equals(folder)) {
        used.add(include.group(1));
      }
    }
  }

  private List<String> pairs() {
    return folders.entrySet().stream()
        .flatMap(entry ->
            entry.getValue().stream()
                .filter(used -> entry.getKey().compareTo(used) < 0)
                .filter(used -> folders.get(used).contains(entry.getKey()))
                .map(used -> entry.getKey() + ", " + used))
        .toList();
  }
}
