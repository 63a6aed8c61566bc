package io.nereid.internal.repository;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.ModelReader;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.model.CheckedBackends;
import io.nereid.model.CheckedModel;
import io.nereid.model.CheckedModel.Finding;
import io.nereid.model.CheckedModel.Kind;
import io.nereid.model.CheckedModel.Verdict;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelStore;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.NereidException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the models of repositories, and reports for each whether it would be loaded. */
public final class RepositoryCheck {

  /** A message that begins with the place that it is about. */
  private static final Pattern PLACED = Pattern.compile("(?s)(\\S+:\\d+:\\d+): (.*)");

  private final RepositoryOptions options;
  private final PluginOptions plugins;
  private final ModelDirectories names;
  private final SortedMap<String, List<Path>> found;

  private RepositoryCheck(RepositoryOptions options, PluginOptions plugins) {
    this.options = options;
    this.plugins = plugins;
    options.store().look(true);
    names = new ModelDirectories(options.repositories(), options.namespacing());
    found = names.find();
  }

  /** All models, by name. */
  public static List<CheckedModel> check(RepositoryOptions options, PluginOptions plugins) {
    RepositoryCheck check = new RepositoryCheck(options, plugins);
    return check.found.entrySet().stream().map(check::model).toList();
  }

  private CheckedModel model(Map.Entry<String, List<Path>> model) {
    String name = names.id(model.getKey()).name();
    if (model.getValue().size() > 1) {
      String text = "model appears in two or more repositories";
      return new CheckedModel(
          name, Verdict.REFUSED, "", List.of(new Finding(Kind.REFUSED, "", text)));
    }
    CheckedBackends backends = new CheckedBackends(plugins);
    List<Finding> findings = new ArrayList<>();
    ReadOptions how = ReadOptions.of(options, names::step, backends, backends, Optional.empty());
    ModelStore.Content content;
    try {
      options.store().fetch(model.getValue().getFirst());
      content = options.store().open(model.getValue().getFirst());
    } catch (NereidException e) {
      findings.add(finding(Kind.REFUSED, e.getMessage()));
      return new CheckedModel(name, Verdict.REFUSED, "", findings);
    }
    List<ModelDraft> versions =
        ModelReader.read(content.place(), how, line -> findings.add(finding(Kind.IGNORED, line)));
    String backend = "";
    String place = "";
    boolean refused = false;
    for (ModelDraft version : versions) {
      switch (version) {
        case ModelDraft.Broken broken -> {
          refused = true;
          findings.add(finding(Kind.REFUSED, broken.cause().getMessage()));
        }
        case PluginDraft draft -> {
          backend = draft.opening().backendName();
          place = draft.backendPlace();
        }
        case ModelDraft.Whole whole -> {
          backend = whole.spec().ensemble().isPresent() ? "ensemble" : whole.spec().backendName();
          refused |= addSteps(whole.spec(), findings);
          addNotes(whole.spec(), findings);
        }
        case ModelDraft.Partial partial -> backend = partial.opening().backendName();
      }
      refused |= addFiles(version, findings);
    }
    content.release().run();
    for (String plugin : backends.found()) {
      findings.add(new Finding(Kind.PLUGIN, place, "runs with the plug-in for " + plugin));
    }
    for (String plugin : backends.missing()) {
      findings.add(new Finding(Kind.PLUGIN, place, "needs a plug-in for " + plugin));
    }
    return new CheckedModel(name, verdict(refused, backends), backend, findings);
  }

  private static Verdict verdict(boolean refused, CheckedBackends backends) {
    if (refused) {
      return Verdict.REFUSED;
    }
    if (!backends.missing().isEmpty()) {
      return Verdict.NEEDS_PLUGIN;
    }
    return backends.found().isEmpty() ? Verdict.RUNS : Verdict.RUNS_WITH_PLUGIN;
  }

  private static Finding finding(Kind kind, String message) {
    Matcher placed = PLACED.matcher(message);
    return placed.matches()
        ? new Finding(kind, placed.group(1), placed.group(2))
        : new Finding(kind, "", message);
  }

  /** True if a step of an ensemble is missing. */
  private boolean addSteps(ModelSpec spec, List<Finding> findings) {
    List<String> missing =
        spec.ensemble().map(Ensemble::steps).orElse(List.of()).stream()
            .map(Ensemble.Step::model)
            .distinct()
            .filter(step -> !found.containsKey(step))
            .toList();
    for (String step : missing) {
      String text = "the ensemble needs model '" + step + "', which no repository has";
      findings.add(new Finding(Kind.REFUSED, "", text));
    }
    return !missing.isEmpty();
  }

  private static void addNotes(ModelSpec spec, List<Finding> findings) {
    if (spec.responseCache()) {
      findings.add(
          new Finding(Kind.NOTE, "", "its responses are kept when the server has --cache-config"));
    }
  }

  /** True if the backend cannot take the model's files. */
  private static boolean addFiles(ModelDraft version, List<Finding> findings) {
    try {
      for (String note : CheckedBackends.inspect(version)) {
        findings.add(new Finding(Kind.NOTE, "", note));
      }
      return false;
    } catch (NereidException e) {
      findings.add(new Finding(Kind.REFUSED, "", e.getMessage()));
      return true;
    }
  }
}
