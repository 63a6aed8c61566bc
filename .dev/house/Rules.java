package house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Who may use whom, as {@code rules.txt} says it. Each rule begins with a line that names who it is
 * about; the lines below it are set in and begin with {@code may use only}, {@code may not use},
 * {@code except} or {@code because}. The rule {@code floors} has one floor a line, the lowest
 * first.
 */
final class Rules {

  /** A use that a rule forbids, and the sentence that explains the rule. */
  record Violation(String from, String to, String because) {}

  private static final String ONLY = "may use only ";
  private static final String NEVER = "may not use ";
  private static final String EXCEPT = "except ";
  private static final String BECAUSE = "because ";
  private static final String FLOORS = "floors";

  private final Sources sources;
  private final List<Violation> violations = new ArrayList<>();

  private Rules(Sources sources) {
    this.sources = sources;
  }

  static List<Violation> violations(Sources sources, Path file) throws IOException {
    Rules rules = new Rules(sources);
    List<String> rule = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      if (!line.startsWith(" ")) {
        rules.apply(rule);
        rule.clear();
      }
      rule.add(line.strip());
    }
    rules.apply(rule);
    return rules.violations;
  }

  private void apply(List<String> rule) {
    if (rule.isEmpty()) {
      return;
    }
    String because = clauses(rule, BECAUSE).getFirst();
    List<String> exceptions = clauses(rule, EXCEPT);
    String who = rule.getFirst();
    if (who.equals(FLOORS)) {
      List<String> floors =
          rule.stream()
              .skip(1)
              .filter(line -> !line.startsWith(BECAUSE) && !line.startsWith(EXCEPT))
              .toList();
      forbid(because, exceptions, (from, to) -> isBelow(floors, from, to));
      return;
    }
    List<String> only = clauses(rule, ONLY);
    if (!only.isEmpty()) {
      forbid(
          because,
          exceptions,
          (from, to) -> isOneOf(from, who) && !isOneOf(to, who) && !isOneOf(to, only.getFirst()));
    }
    for (String never : clauses(rule, NEVER)) {
      forbid(because, exceptions, (from, to) -> isOneOf(from, who) && isOneOf(to, never));
    }
  }

  private static List<String> clauses(List<String> rule, String keyword) {
    return rule.stream()
        .filter(line -> line.startsWith(keyword))
        .map(line -> line.substring(keyword.length()))
        .toList();
  }

  private interface Forbidden {
    boolean use(String from, String to);
  }

  private void forbid(String because, List<String> exceptions, Forbidden forbidden) {
    sources
        .uses()
        .forEach((from, used) -> {
          for (String to : used) {
            if (forbidden.use(from, to) && !isExcepted(exceptions, from, to)) {
              violations.add(new Violation(from, to, because));
            }
          }
        });
  }

  private boolean isExcepted(List<String> exceptions, String from, String to) {
    return exceptions.stream()
        .map(exception -> exception.split(" -> "))
        .anyMatch(sides -> isOneOf(from, sides[0]) && isOneOf(to, sides[1]));
  }

  /** Whether both stand on floors, and the first one on the lower. */
  private boolean isBelow(List<String> floors, String from, String to) {
    int lower = floor(floors, from);
    return lower >= 0 && lower < floor(floors, to);
  }

  /** The floor of a file, 0 being the lowest; -1: it stands on none. */
  private int floor(List<String> floors, String name) {
    for (int floor = 0; floor < floors.size(); floor++) {
      if (isOneOf(name, floors.get(floor))) {
        return floor;
      }
    }
    return -1;
  }

  /** Whether a file is one of those that a list of names, separated by commas, stands for. */
  private boolean isOneOf(String fullName, String names) {
    return Arrays.stream(names.split(", *")).anyMatch(name -> is(fullName, name));
  }

  private boolean is(String fullName, String name) {
    String outside = "outside ";
    if (name.startsWith(outside)) {
      return !is(fullName, name.substring(outside.length()));
    }
    if (name.startsWith("module ")) {
      return sources.named(fullName).module().equals(name.substring("module ".length()));
    }
    if (name.endsWith(".*")) {
      return fullName.startsWith(name.substring(0, name.length() - 1));
    }
    return fullName.equals(name) || Graph.packageOf(fullName).equals(name);
  }
}
