import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import tools.jackson.jr.ob.JSON;

/**
 * Checks the licences of the jars of a distribution, as their SBOMs say them, against the list of
 * those that are allowed, and collects their texts. Run with the distribution's jars as class path:
 * {@code java Licences.java RULES OUTPUT SBOM JARS [SBOM JARS]...}, where RULES has {@code
 * allowed.txt} and {@code texts/<group>.txt} for jars without a text of their own, and each SBOM
 * lists exactly the jars of the folder behind it.
 */
final class Licences {
  private static final Pattern TEXT =
      Pattern.compile(
          "(.*/)?(licen[cs]e|notice|copying|third-?party-?notices?)[^/]*",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern CLASSIFIER = Pattern.compile("[?&]classifier=([^&]+)");
  private static final String APACHE = "Apache-2.0";

  private final Path rules;
  private final Path output;
  private final Map<String, String> allowed = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private final Map<String, String> index = new TreeMap<>();

  private Licences(Path rules, Path output) throws IOException {
    this.rules = rules;
    this.output = output;
    for (String line : Files.readAllLines(rules.resolve("allowed.txt"))) {
      if (!line.isBlank() && !line.startsWith("#")) {
        String[] sides = line.split(" = ");
        allowed.put(sides[0], sides[sides.length - 1]);
      }
    }
  }

  public static void main(String[] args) throws IOException {
    Licences licences = new Licences(Path.of(args[0]), Path.of(args[1]));
    for (int i = 2; i < args.length; i += 2) {
      licences.check(Path.of(args[i]), Path.of(args[i + 1]));
    }
    licences.writeIndex();
    if (!licences.problems.isEmpty()) {
      licences.problems.forEach(System.err::println);
      System.exit(1);
    }
  }

  private void check(Path sbom, Path jars) throws IOException {
    Map<String, Map<?, ?>> components = new HashMap<>();
    for (Object entry : (List<?>) JSON.std.mapFrom(sbom.toFile()).get("components")) {
      Map<?, ?> component = (Map<?, ?>) entry;
      components.put(file(component), component);
    }
    List<Path> files;
    try (var listed = Files.list(jars)) {
      files = listed.filter(Files::isRegularFile).sorted().toList();
    }
    for (Path jar : files) {
      String name = jar.getFileName().toString();
      Map<?, ?> component = components.remove(name);
      if (component == null) {
        problems.add(name + ": expected it in the SBOM " + sbom + ", and it is not there");
      } else if (!component.get("group").equals("io.nereid")) {
        one(jar, component);
      }
    }
    components.keySet().forEach(name -> problems.add(name + " is in the SBOM, and not shipped"));
  }

  /** The name of its jar; only the purl has the classifier of one that has several. */
  private static String file(Map<?, ?> component) {
    Matcher classifier = CLASSIFIER.matcher(String.valueOf(component.get("purl")));
    return component.get("name")
        + "-"
        + component.get("version")
        + (classifier.find() ? "-" + classifier.group(1) : "")
        + ".jar";
  }

  private void one(Path jar, Map<?, ?> component) throws IOException {
    String file = jar.getFileName().toString();
    List<String> said = names(component);
    String group = component.get("group") + " ";
    // Of several licences one may choose.
    String licence =
        said.stream()
            .map(name -> allowed.getOrDefault(group + name, allowed.get(name)))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
    if (licence == null) {
      problems.add(
          file
              + ": expected a licence of "
              + rules.resolve("allowed.txt")
              + ", got "
              + (said.isEmpty() ? "none in its POM" : String.join(", ", said))
              + "; if we may ship it, add the licence there, else leave the dependency out");
      return;
    }
    Path directory = output.resolve(file.replaceFirst("\\.jar$", ""));
    int texts = copyTexts(jar, directory);
    Path ours = rules.resolve("texts").resolve(component.get("group") + ".txt");
    if (Files.exists(ours)) {
      Files.createDirectories(directory);
      Files.copy(ours, directory.resolve("LICENSE.txt"));
      texts++;
    }
    if (texts == 0 && !licence.equals(APACHE)) {
      problems.add(file + " has " + licence + " and no text of it inside: put it into " + ours);
    }
    index.put(file, licence + (texts == 0 ? ", see Apache-2.0.txt" : ""));
  }

  private static List<String> names(Map<?, ?> component) {
    List<String> names = new ArrayList<>();
    if (component.get("licenses") instanceof List<?> licences) {
      for (Object entry : licences) {
        Map<?, ?> choice = (Map<?, ?>) entry;
        if (choice.get("license") instanceof Map<?, ?> licence) {
          names.add(String.valueOf(licence.get(licence.containsKey("id") ? "id" : "name")));
        } else {
          names.add(String.valueOf(choice.get("expression")));
        }
      }
    }
    return names;
  }

  /** Copies what a jar has of licences and notices, without its folders, and returns how many. */
  private static int copyTexts(Path jar, Path directory) throws IOException {
    int count = 0;
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (var entry : zip.stream().filter(each -> !each.isDirectory()).toList()) {
        String name = entry.getName();
        if (!TEXT.matcher(name).matches() || name.endsWith(".class")) {
          continue;
        }
        Files.createDirectories(directory);
        Path target = directory.resolve(name.substring(name.lastIndexOf('/') + 1));
        try (InputStream in = zip.getInputStream(entry)) {
          Files.copy(in, target);
        }
        count++;
      }
    }
    return count;
  }

  private void writeIndex() throws IOException {
    StringBuilder text = new StringBuilder("The jars in lib/ and its folders, and their licences.\n\n");
    index.forEach((jar, licence) -> text.append(jar).append(": ").append(licence).append('\n'));
    Files.writeString(output.resolve("THIRD-PARTY.txt"), text);
  }
}
