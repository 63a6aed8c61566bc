package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Claims of documents: the pages they lead to, the commands they name. */
class DocumentsTest {

  private static final Path ROOT = Path.of("..", "..");

  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
  private static final Pattern FENCED = Pattern.compile("(?ms)^```[a-z]*\n(.*?)^```");
  private static final Pattern JAVA = Pattern.compile("(?ms)^```java\n(.*?)^```");
  private static final Pattern TYPE = Pattern.compile("(?<![.\\w\"])[A-Z]\\w*[a-z]\\w*");
  private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:^|[ (;])(?:\\$ )?(\\./nereid|bin/nereid|nereid|\\./dev|(?:benchmarks/)?gpu/verify)"
              + " ([^|;#&>)]*)");
  private static final Pattern WORD = Pattern.compile("(?:'[^']*'|\"[^\"]*\"|[^\\s'\"])+");

  /** What the table of CONTRIBUTING.md names beside files, classes and packages. */
  private static final Set<String> NO_FILES =
      Set.of(
          "nrd_backend_find",
          "serve",
          "nrd-",
          "closed-list",
          "./nereid",
          "./dev",
          "./dev bench counters",
          "./dev simulate",
          "./dev simulate faults");

  private static final CommandLine MAIN = Main.commandLine();

  /** Goes into the tarballs, at their top. */
  private static final Path SHIPPED = Path.of("dist/README.md");

  /**
   * A command of a document.
   *
   * @param fenced whether it stands in lines of its own
   */
  private record Command(Path document, String program, List<String> words, boolean fenced) {
    @Override
    public String toString() {
      return document + ": " + program + " " + String.join(" ", words);
    }
  }

  @Test
  void examplesImportTheTypesOfNereidThatTheyUse() throws IOException {
    Map<String, Set<String>> types = publicTypes();
    List<String> missing = new ArrayList<>();
    for (Path document : documents()) {
      for (MatchResult example :
          JAVA.matcher(Files.readString(ROOT.resolve(document))).results().toList()) {
        String code = example.group(1);
        TYPE.matcher(code.replaceAll("//[^\n]*|import [^\n]*", ""))
            .results()
            .map(MatchResult::group)
            .distinct()
            .filter(name ->
                types.getOrDefault(name, Set.of("")).stream()
                    .noneMatch(type -> code.contains("import " + type)))
            .forEach(name -> missing.add(document + ": " + name));
      }
    }
    assertEquals(List.of(), missing);
  }

  /** The names that programs may import, by their last part. */
  private static Map<String, Set<String>> publicTypes() throws IOException {
    Map<String, Set<String>> types = new HashMap<>();
    for (String module : List.of("bindings", "integrations", "benchmarks/jmh")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module))) {
        for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
          String name = file.toString().replace('/', '.').replace(".java", "");
          int root = name.indexOf("main.java.");
          if (root >= 0 && !name.contains(".internal.")) {
            types
                .computeIfAbsent(name.substring(name.lastIndexOf('.') + 1), key -> new HashSet<>())
                .add(name.substring(root + "main.java.".length()));
          }
        }
      }
    }
    return types;
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    for (String place :
        List.of(
            ".",
            "docs",
            "benchmarks",
            "benchmarks/peers",
            "docker",
            "dist",
            "examples/models-src",
            "integrations/spark")) {
      try (Stream<Path> files = Files.list(ROOT.resolve(place))) {
        files
            .filter(file -> file.toString().endsWith(".md"))
            .forEach(file -> documents.add(ROOT.relativize(file).normalize()));
      }
    }
    return documents;
  }

  private static String text(Path document) throws IOException {
    return Files.readString(ROOT.resolve(document));
  }

  // ---- Links -----------------------------------------------------------------------------------

  @Test
  void linksLeadSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path document : documents()) {
      Matcher link = LINK.matcher(FENCED.matcher(text(document)).replaceAll(""));
      while (link.find()) {
        if (!link.group(1).matches("[a-z]+:.*")) {
          links++;
          if (!leadsSomewhere(document, link.group(1))) {
            broken.add(document + " -> " + link.group(1));
          }
        }
      }
    }
    assertEquals(List.of(), broken);
    assertTrue(links > 50, "only " + links + " links were found");
  }

  private static boolean leadsSomewhere(Path document, String link) throws IOException {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    Path target = document;
    if (!file.isEmpty()) {
      Path from = document.equals(SHIPPED) ? Path.of("top") : document;
      target = from.resolveSibling(file).normalize();
    }
    if (!Files.exists(ROOT.resolve(target))) {
      return document.equals(SHIPPED) && file.startsWith("licenses/"); // made with the tarball
    }
    return hash < 0 || anchors(target).contains(link.substring(hash + 1));
  }

  /** What headings can be called by, as browsers of repositories make it of them. */
  private static Set<String> anchors(Path document) throws IOException {
    return HEADING
        .matcher(FENCED.matcher(text(document)).replaceAll(""))
        .results()
        .map(heading ->
            heading
                .group(1)
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  // ---- Names -----------------------------------------------------------------------------------

  /** The table that says where to change what. */
  @Test
  void placesToBeChangedAreThere() throws IOException {
    Set<String> files = sourceFiles();
    String text = text(Path.of("CONTRIBUTING.md"));
    String table = text.substring(text.indexOf("| I want to add |"));
    List<String> names =
        SPAN.matcher(table.substring(0, table.indexOf("\n\n")))
            .results()
            .map(name -> name.group(1))
            .toList();
    assertEquals(List.of(), names.stream().filter(name -> !isThere(name, files)).toList());
    assertTrue(names.size() > 60, "only " + names.size() + " names were found");
  }

  private static boolean isThere(String name, Set<String> files) {
    if (name.startsWith("io.nereid")) {
      return files.stream().anyMatch(file -> file.contains("/" + name.replace('.', '/') + "/"));
    }
    if (name.matches("[A-Z][A-Za-z]+")) {
      return files.stream().anyMatch(file -> file.endsWith("/" + name + ".java"));
    }
    return Files.exists(ROOT.resolve(name))
        || files.stream().anyMatch(file -> file.endsWith("/" + name))
        || NO_FILES.contains(name);
  }

  private static Set<String> sourceFiles() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .map(Path::toString)
          .filter(file -> !file.contains("/target/") && !file.contains("/build/"))
          .collect(Collectors.toSet());
    }
  }

  // ---- Commands --------------------------------------------------------------------------------

  private static List<Command> commands() throws IOException {
    List<Command> commands = new ArrayList<>();
    for (Path document : documents()) {
      String text = text(document);
      for (MatchResult block : FENCED.matcher(text).results().toList()) {
        String joined = block.group(1).replaceAll("\\\\\n *", "");
        joined.lines().forEach(line -> find(document, line, true, commands));
      }
      for (MatchResult span :
          SPAN.matcher(FENCED.matcher(text).replaceAll("")).results().toList()) {
        find(document, span.group(1), false, commands);
      }
    }
    return commands;
  }

  private static void find(Path document, String line, boolean fenced, List<Command> commands) {
    Matcher command = COMMAND.matcher(line);
    // A name in the middle of a line is an argument, as of tar or kubectl.
    if (command.find() && (command.start(1) == 0 || command.group(1).contains("/"))) {
      List<String> words =
          WORD.matcher(command.group(2))
              .results()
              .map(word -> word.group().replaceAll("['\"]", ""))
              .toList();
      if (!words.isEmpty()) {
        commands.add(new Command(document, command.group(1).replaceAll(".*/", ""), words, fenced));
      }
    }
  }

  private static List<String> options(Command command) {
    return command.words().stream()
        .filter(word -> word.matches("--?[a-z].*"))
        .map(word -> word.replaceAll("=.*", ""))
        .toList();
  }

  @Test
  @Tag("slow")
  void commandsAndTheirOptionsAreThere() throws Exception {
    List<String> wrong = new ArrayList<>();
    String scripts = scripts();
    String help = run("./dev help");
    int count = 0;
    for (Command command : commands()) {
      boolean known =
          switch (command.program()) {
            case "nereid" -> isKnown(command);
            case "dev" -> isKnownToDevelopers(command, scripts, help);
            default -> options(command).stream().allMatch(option -> names(scripts, option));
          };
      count++;
      if (!known) {
        wrong.add(command.toString());
      }
    }
    assertEquals(List.of(), wrong);
    assertTrue(count > 60, "only " + count + " commands were found");
  }

  private static boolean isKnown(Command command) {
    String name = command.words().getFirst();
    CommandLine first = name.startsWith("-") ? MAIN : MAIN.getSubcommands().get(name);
    boolean nested = first != null && first != MAIN && !first.getSubcommands().isEmpty();
    CommandLine sub = nested ? first.getSubcommands().get(command.words().get(1)) : first;
    return sub != null
        && options(command).stream()
            .allMatch(option -> sub.getCommandSpec().optionsMap().containsKey(option));
  }

  private static boolean isKnownToDevelopers(Command command, String scripts, String help)
      throws Exception {
    List<String> words = command.words();
    if (!Pattern.compile("(?m)^  " + Pattern.quote(words.getFirst()) + " ").matcher(help).find()) {
      return false;
    }
    if (words.getFirst().equals("bench") && words.size() > 1) {
      if (!help.contains("./dev bench " + words.get(1))) {
        return false;
      }
      if (words.get(1).equals("core")) {
        return run("self=dev root=$PWD; . .dev/tools.sh; . .dev/bench.sh; bench_core_arguments "
                + words.stream().skip(2).collect(Collectors.joining("' '", "'", "'"))
                + " 2>&1; echo \"status $?\"")
            .endsWith("status 0\n");
      }
    }
    return options(command).stream().allMatch(option -> names(scripts, option));
  }

  private static boolean names(String scripts, String option) {
    return Pattern.compile(Pattern.quote(option) + "(?![a-z-])").matcher(scripts).find();
  }

  /** What reads the options of the developers' commands. */
  private static String scripts() throws IOException {
    StringBuilder text =
        new StringBuilder(text(Path.of("dev"))).append(text(Path.of("benchmarks/gpu/verify")));
    for (String place :
        List.of(
            ".dev",
            "benchmarks/src/main",
            "benchmarks/peers/src/main",
            "benchmarks/gpu/src/main")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(place))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          if (file.toString().matches(".*\\.(sh|java)")) {
            text.append(Files.readString(file));
          }
        }
      }
    }
    return text.toString();
  }

  private static String run(String command) throws IOException {
    Process process = new ProcessBuilder("bash", "-c", command).directory(ROOT.toFile()).start();
    process.getOutputStream().close();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /**
   * Those that neither serve nor measure, and name nothing that is the reader's.
   * ConsoleExamplesTest runs those of the tutorial.
   */
  @Test
  @Tag("slow")
  void quickExamplesDoAsTheySay() throws IOException {
    Set<String> quick = Set.of("infer", "config", "models", "completion", "help");
    int count = 0;
    for (Command command : commands()) {
      List<String> words = command.words();
      boolean ofTheReader =
          words.stream().anyMatch(word -> word.matches("/.*|[A-Z]+|<.*|\\[.*|.*model.*=.*"));
      if (command.program().equals("nereid")
          && !ofTheReader
          && !command.document().endsWith("tutorial.md")
          && !words.contains("--watch")
          && !words.contains("-u")
          && (words.contains("--help") || quick.contains(words.getFirst()))) {
        CommandLineRun cli = new CommandLineRun();
        assertEquals(0, cli.run(words.toArray(String[]::new)), () -> command + ": " + cli.err());
        count++;
      }
    }
    assertTrue(count >= 5, "only " + count + " commands were run");
  }
}
