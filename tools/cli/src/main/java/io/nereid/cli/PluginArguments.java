package io.nereid.cli;

import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Triton's flags for plug-ins: their places and settings. */
final class PluginArguments extends Arguments {

  private static final String BACKEND_FORM = "[NAME,]KEY=VALUE";
  private static final String MAX_BATCH_SIZE = "default-max-batch-size";
  private static final String AUTO_COMPLETE = "auto-complete-config";

  @Option(
      names = "--backend-directory",
      paramLabel = "DIR",
      description =
          "Triton's backends, each in a directory with its name; /opt/tritonserver/backends by"
              + " default.")
  private Path backendDirectory;

  @Option(
      names = "--backend-config",
      paramLabel = BACKEND_FORM,
      description =
          "A setting of a backend, or of all. NAME,implementation=plugin prefers a plug-in to"
              + " Nereid's own backend.")
  private List<String> backends = new ArrayList<>();

  @Option(
      names = "--cache-directory",
      paramLabel = "DIR",
      description = "Triton's response caches; /opt/tritonserver/caches by default.")
  private Path cacheDirectory;

  @Option(
      names = "--repoagent-directory",
      paramLabel = "DIR",
      description = "Triton's repository agents; /opt/tritonserver/repoagents by default.")
  private Path agentDirectory;

  @Option(
      names = "--allow-client-code",
      description =
          "Let plug-ins run files as code that clients send with a load: shared libraries, and"
              + " Python. Whoever may load models may then run code in the server.")
  private boolean clientCode;

  /** A setting of a backend; an empty name means all backends. */
  private record Setting(String backend, String key, String value) {}

  private Setting setting(String text) {
    int equal = text.indexOf('=');
    int comma = text.indexOf(',');
    boolean named = comma >= 0 && comma < equal;
    String backend = named ? text.substring(0, comma).strip() : "";
    String key = equal < 0 ? "" : text.substring(named ? comma + 1 : 0, equal).strip();
    if (key.isEmpty() || named && backend.isEmpty()) {
      throw wrong("--backend-config " + BACKEND_FORM, "'" + text + "'");
    }
    return new Setting(backend, key, text.substring(equal + 1));
  }

  /** Makes the options; a cache's settings can be added. */
  PluginOptions.Builder options() {
    PluginOptions.Builder options = PluginOptions.builder().clientCode(clientCode);
    Optional.ofNullable(backendDirectory).ifPresent(options::backendDirectory);
    Optional.ofNullable(cacheDirectory).ifPresent(options::cacheDirectory);
    Optional.ofNullable(agentDirectory).ifPresent(options::agentDirectory);
    for (String text : backends) {
      Setting setting = setting(text);
      checkImplementation(setting);
      options.backend(setting.backend(), setting.key(), setting.value());
    }
    return options;
  }

  private void checkImplementation(Setting setting) {
    if (setting.key().equals(PluginOptions.IMPLEMENTATION)
        && (setting.backend().isEmpty() || !setting.value().matches("plugin|nereid"))) {
      throw wrong(
          "--backend-config NAME,implementation=plugin or NAME,implementation=nereid",
          "'" + setting.value() + "' for '" + setting.backend() + "'");
    }
  }

  /** Applies settings for all backends to Nereid's own backends. */
  void apply(RepositoryOptions.Builder models) {
    for (String text : backends) {
      Setting setting = setting(text);
      if (setting.backend().isEmpty() && setting.key().equals(MAX_BATCH_SIZE)) {
        models.defaultMaxBatchSize(maxBatchSize(setting.value()));
      } else if (setting.backend().isEmpty() && setting.key().equals(AUTO_COMPLETE)) {
        models.autoComplete(Boolean.parseBoolean(setting.value()));
      }
    }
  }

  private int maxBatchSize(String value) {
    try {
      return atLeast(1, "--backend-config " + MAX_BATCH_SIZE, Integer.valueOf(value));
    } catch (NumberFormatException e) {
      throw wrong("--backend-config " + MAX_BATCH_SIZE + " as a whole number", "'" + value + "'");
    }
  }
}
