package io.nereid.internal.model;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.ReadOptions;
import io.nereid.model.PluginOptions;
import io.nereid.types.NereidException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Finds out which plug-ins one model needs and which of them are installed, loading nothing: the
 * configuration of a model can be read even if its plug-in is missing.
 */
public final class CheckedBackends implements ReadOptions.Plugins, ReadOptions.Agents {

  /** The backends that the core has. */
  private static final Set<String> OWN = Set.of("onnxruntime", "identity");

  private final PluginRuntime plugins;
  private final Set<String> found = new TreeSet<>();
  private final Set<String> missing = new TreeSet<>();

  /** Begins the check of one model. */
  public CheckedBackends(PluginOptions options) {
    plugins = PluginService.of(options);
  }

  /**
   * Returns the sentences that the backend of a version says about its files.
   *
   * @throws NereidException when the backend cannot take them
   */
  public static List<String> inspect(ModelDraft version) {
    return BackendFinder.inspect(version);
  }

  /** The plug-ins that the model needs and that are installed, in words. */
  public Set<String> found() {
    return found;
  }

  /** The plug-ins that the model needs and that are missing, in words. */
  public Set<String> missing() {
    return missing;
  }

  @Override
  public boolean runs(String model, String backend, Path directory, long version, String runtime) {
    boolean own = OWN.contains(backend) || BackendFinder.isJava(backend);
    if (own && !plugins.options().prefersPlugin(backend)) {
      return false;
    }
    PluginRuntime.Model asked =
        new PluginRuntime.Model(model, backend, Optional.of(directory), version, runtime);
    String what = "backend '" + backend + "'";
    try {
      plugins
          .find(asked)
          .ifPresentOrElse(
              library -> found.add(what + ": " + library),
              () -> missing.add(what + BackendFinder.missing(asked, plugins)));
    } catch (NereidException e) {
      missing.add(e.getMessage());
    }
    return true;
  }

  @Override
  public Path locate(
      String model, Function<Path, String> config, Path directory, List<ReadOptions.Agent> agents) {
    for (ReadOptions.Agent agent : agents) {
      try {
        Path library = plugins.agentLibrary(agent.name());
        found.add("repository agent '" + agent.name() + "': " + library);
      } catch (NereidException e) {
        missing.add("repository agent '" + agent.name() + "': " + e.getMessage());
      }
    }
    return directory;
  }
}
