package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.Repository;
import io.nereid.model.CheckedModel;
import io.nereid.model.CheckedModel.Finding;
import io.nereid.model.CheckedModel.Verdict;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/** {@code nereid check}: checks whether a repository's models can be served. */
@Command(
    name = "check",
    description = {
      "Read a model repository made for Triton and say, model by model, what runs here,",
      "what needs a plug-in and which, what is ignored, and what is refused."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all models run here",
      "1:a model is refused or does not load, or the repository cannot be read",
      "2:the command line is wrong",
      "3:no model is refused, but one needs a plug-in that is not here"
    },
    footer = {
      "",
      "Configurations are read, and of TensorRT plans the first bytes; --load opens all",
      "model files, as a server would at its start."
    })
final class CheckCommand implements Callable<Integer> {

  private static final int REFUSED = 1;
  private static final int NEEDS_PLUGIN = 3;

  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "A model repository; the bundled examples by default.")
  private String repository;

  @Mixin private RepositoryArguments repositories = new RepositoryArguments();

  @Mixin private PluginArguments plugins;

  @Option(names = "--load", description = "Also load the models, and say which do not load.")
  private boolean load;

  @Option(names = "--json", description = "Print JSON instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    RepositoryOptions.Builder options = RepositoryOptions.builder();
    repositories.addTo(options, RepositoryArguments.listOf(repository), text -> {});
    plugins.apply(options);
    List<CheckedModel> models;
    Map<String, String> failures;
    try {
      models = Repository.check(options.build(), plugins.options().build());
      failures = load ? failures(options.build()) : Map.of();
    } finally {
      options.build().store().close();
    }
    PrintWriter out = command.commandLine().getOut();
    if (json) {
      out.println(
          JSON.std.asString(
              Map.of("models", models.stream().map(model -> asMap(model, failures)).toList())));
    } else {
      models.forEach(model -> print(model, failures, out));
      out.println(summary(models, failures));
    }
    out.flush();
    return failures.isEmpty() ? exitCode(models) : REFUSED;
  }

  /** Loads all models, and returns the reasons of failures by name. */
  private Map<String, String> failures(RepositoryOptions models) {
    RepositoryArguments.muteLoadLog(); // the list has the reasons
    NereidOptions options = NereidOptions.builder().plugins(plugins.options().build()).build();
    Map<String, String> failures = new TreeMap<>();
    try (Nereid nereid = Nereid.open(models, options)) {
      for (Model model : nereid.models()) {
        if (model.state() == ModelState.FAILED) {
          failures.putIfAbsent(model.name(), model.failure().orElse("no reason is known"));
        }
      }
    }
    return failures;
  }

  private static int exitCode(List<CheckedModel> models) {
    if (models.stream().anyMatch(model -> model.verdict() == Verdict.REFUSED)) {
      return REFUSED;
    }
    boolean missing = models.stream().anyMatch(model -> model.verdict() == Verdict.NEEDS_PLUGIN);
    return missing ? NEEDS_PLUGIN : 0;
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private void print(CheckedModel model, Map<String, String> failures, PrintWriter out) {
    String backend = model.backend().isEmpty() ? "" : " (" + model.backend() + ")";
    String failure = failures.get(model.name());
    String word = word(model.verdict());
    if (isRun(model)) {
      word = failure != null ? "does not load" : load ? word + ", loaded" : word;
    }
    out.println(Texts.printable(model.name() + backend + ": " + word));
    if (failure != null && isRun(model)) {
      out.println(Texts.printable("  failed: " + failure));
    }
    for (Finding finding : model.findings()) {
      String place = finding.place().isEmpty() ? "" : finding.place() + ": ";
      out.println(Texts.printable("  " + word(finding.kind()) + ": " + place + finding.text()));
    }
  }

  private static boolean isRun(CheckedModel model) {
    return model.verdict() == Verdict.RUNS || model.verdict() == Verdict.RUNS_WITH_PLUGIN;
  }

  private String summary(List<CheckedModel> models, Map<String, String> failures) {
    StringBuilder text = new StringBuilder(models.size() + " models:");
    String separator = " ";
    for (Verdict verdict : Verdict.values()) {
      long count = models.stream().filter(model -> model.verdict() == verdict).count();
      if (count > 0) {
        text.append(separator).append(count).append(' ').append(word(verdict));
        separator = ", ";
      }
    }
    if (load) {
      text.append("; ").append(failures.size()).append(" did not load");
    } else {
      boolean plans = models.stream().anyMatch(model -> model.backend().equals("tensorrt"));
      text.append("; by their configurations, ")
          .append(plans ? "of plans the first bytes were read" : "no model file was opened")
          .append(" (--load opens them)");
    }
    return text.toString();
  }

  private Map<String, Object> asMap(CheckedModel model, Map<String, String> failures) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", model.name());
    map.put("verdict", model.verdict().name().toLowerCase(Locale.ROOT));
    map.put("backend", model.backend());
    if (load) {
      map.put("loaded", isRun(model) && !failures.containsKey(model.name()));
      map.put("failure", failures.getOrDefault(model.name(), ""));
    }
    map.put("findings", model.findings().stream().map(CheckCommand::asMap).toList());
    return map;
  }

  private static Map<String, Object> asMap(Finding finding) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kind", finding.kind().name().toLowerCase(Locale.ROOT));
    map.put("place", finding.place());
    map.put("text", finding.text());
    return map;
  }
}
