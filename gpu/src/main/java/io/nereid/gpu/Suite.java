package io.nereid.gpu;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** All checks, those first that others build on and that tell the most. */
final class Suite {

  /** Those that build an engine of many layers first, or measure for long. */
  private static final int LONG = 2;

  private static final List<Check> ALL =
      List.of(
          check("build", LONG, BuildChecks::engines),
          check("command", BuildChecks::command),
          check("numerics", NumericChecks::numerics),
          check("resnet", NumericChecks::resNet),
          check("speed", LONG, SpeedChecks::resNet),
          check("graphs", SpeedChecks::graphs),
          check("batching", ServingChecks::batching),
          check("types", TypeChecks::identities),
          check("data-shapes", TypeChecks::dataDependent),
          check("cancel", ServingChecks::cancel),
          check("reload", ServingChecks::reload),
          check("refusals", FailureChecks::refusals),
          check("memory", FailureChecks::outOfMemory),
          check("leaks", FailureChecks::leaks));

  /** For the help. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return names().iterator();
    }
  }

  private interface Body {
    void run(Workbench bench, Report report) throws Exception;
  }

  private Suite() {}

  private static Check check(String name, Body body) {
    return check(name, 1, body);
  }

  private static Check check(String name, int patience, Body body) {
    return new Check() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public int patience() {
        return patience;
      }

      @Override
      public void run(Workbench bench, Report report) throws Exception {
        body.run(bench, report);
      }
    };
  }

  static List<String> names() {
    return ALL.stream().map(Check::name).toList();
  }

  /** Those that are named, all where none is; fewer where one is unknown. */
  static List<Check> checks(List<String> named) {
    return named.isEmpty()
        ? ALL
        : new ArrayList<>(ALL.stream().filter(check -> named.contains(check.name())).toList());
  }
}
