package house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The Java sources of the project without its tests, and which of them use which. */
final class Sources {

  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?(io\\.nereid[a-z0-9_.]*)\\.([A-Z]\\w*)");
  private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*");

  /** Comments, text blocks, strings and characters: a name in one of them is no use of a type. */
  private static final Pattern NO_CODE =
      Pattern.compile(
          "(?s)/\\*.*?\\*/|//[^\n"
              + "]*|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n"
              + "]|\\\\.)*\"|'(?:[^'\\\\\n"
              + "]|\\\\.)+'");

  /** A source file. Its code is the text without comments and strings. */
  record Source(String module, String packageName, String name, List<String> lines, String code) {
    String fullName() {
      return packageName + "." + name;
    }
  }

  private final Map<String, Source> byName = new TreeMap<>();
  private final Map<String, Set<String>> uses = new TreeMap<>();

  private Sources() {}

  static Sources read(Path root) throws IOException {
    Sources sources = new Sources();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Sources::counts).toList()) {
        sources.add(root.relativize(file).toString(), Files.readAllLines(file));
      }
    }
    sources.all().forEach(source -> sources.uses.put(source.fullName(), sources.used(source)));
    return sources;
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

  private void add(String path, List<String> lines) {
    String text = String.join("\n", lines);
    Matcher declared = PACKAGE.matcher(text);
    if (declared.find()) {
      String name = path.substring(path.lastIndexOf('/') + 1).replace(".java", "");
      String module = path.substring(0, path.indexOf("/src/"));
      String code = NO_CODE.matcher(text).replaceAll(" ");
      Source source = new Source(module, declared.group(1), name, lines, code);
      byName.put(source.fullName(), source);
    }
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

  List<Source> all() {
    return List.copyOf(byName.values());
  }

  Source named(String fullName) {
    return byName.get(fullName);
  }

  /** The full names of the files that each file uses, by its own full name. */
  Map<String, Set<String>> uses() {
    return uses;
  }

  /** The same of one module, without what it uses of others. */
  Map<String, Set<String>> usesWithin(String module) {
    Map<String, Set<String>> within = new TreeMap<>();
    uses.forEach((name, used) -> {
      if (named(name).module().equals(module)) {
        Set<String> own = new TreeSet<>(used);
        own.removeIf(other -> !named(other).module().equals(module));
        within.put(name, own);
      }
    });
    return within;
  }

  /** The full names that a document may mean by {@code Name} or {@code folder/Name}. */
  List<String> meant(String name) {
    String end = "." + name.replace('/', '.');
    return byName.keySet().stream().filter(full -> full.endsWith(end)).toList();
  }

  /** The packages of each simple name. */
  Map<String, List<String>> packagesByName() {
    Map<String, List<String>> packages = new HashMap<>();
    for (Source source : all()) {
      packages.computeIfAbsent(source.name(), name -> new ArrayList<>()).add(source.packageName());
    }
    return new TreeMap<>(packages);
  }
}
