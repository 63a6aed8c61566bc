package io.nereid.model;

import io.nereid.internal.Checks;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Plug-ins that were made for Triton: where they are, and their settings. A plug-in is native code
 * in this process. Build one with {@link #builder()}.
 *
 * @param backendDirectory has a directory {@code NAME} with {@code libtriton_NAME.so} for each
 *     backend
 * @param backends settings by the backend's name; those under the empty name are for all
 * @param cacheDirectory has a directory {@code NAME} with {@code libtritoncache_NAME.so} for each
 *     response cache
 * @param caches settings by the cache's name; at most one cache, which keeps the responses
 * @param agentDirectory has a directory {@code NAME} with {@code libtritonrepoagent_NAME.so} for
 *     each repository agent
 * @param clientCode whether a plug-in may run files as code that came with a load ({@link
 *     ModelOverride#files})
 */
public record PluginOptions(
    Path backendDirectory,
    Map<String, Map<String, String>> backends,
    Path cacheDirectory,
    Map<String, Map<String, String>> caches,
    Path agentDirectory,
    boolean clientCode) {

  /**
   * The key of a backend's setting; its value {@code plugin} prefers a plug-in to Nereid's own
   * backend of that name.
   */
  public static final String IMPLEMENTATION = "implementation";

  /** The options that apply when nothing is set: the directories that Triton has by default. */
  public static final PluginOptions DEFAULT = builder().build();

  /** Checks the values and copies the maps. */
  public PluginOptions {
    backendDirectory = Checks.notNull(backendDirectory, "backendDirectory").toAbsolutePath();
    cacheDirectory = Checks.notNull(cacheDirectory, "cacheDirectory").toAbsolutePath();
    agentDirectory = Checks.notNull(agentDirectory, "agentDirectory").toAbsolutePath();
    backends = copy(Checks.notNull(backends, "backends"));
    caches = copy(Checks.notNull(caches, "caches"));
    if (caches.size() > 1) {
      throw new IllegalArgumentException(
          "expected one response cache, got " + new TreeMap<>(caches).keySet());
    }
  }

  private static Map<String, Map<String, String>> copy(Map<String, Map<String, String>> settings) {
    Map<String, Map<String, String>> copy = new HashMap<>();
    settings.forEach((name, its) -> copy.put(name, Map.copyOf(its)));
    return Map.copyOf(copy);
  }

  /**
   * True if a plug-in is to run the models of this backend, even if Nereid has a backend of that
   * name.
   */
  public boolean prefersPlugin(String backend) {
    String wanted = backends.getOrDefault(backend, Map.of()).get(IMPLEMENTATION);
    return "plugin".equals(wanted);
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link PluginOptions}. */
  public static final class Builder {
    private Path backendDirectory = Path.of("/opt/tritonserver/backends");
    private Path cacheDirectory = Path.of("/opt/tritonserver/caches");
    private Path agentDirectory = Path.of("/opt/tritonserver/repoagents");
    private final Map<String, Map<String, String>> backends = new HashMap<>();
    private final Map<String, Map<String, String>> caches = new HashMap<>();
    private boolean clientCode;

    private Builder() {}

    /** Sets the directory of backends; {@code /opt/tritonserver/backends} when it is not set. */
    public Builder backendDirectory(Path directory) {
      backendDirectory = Checks.notNull(directory, "directory");
      return this;
    }

    /** A setting of a backend; of all of them with the name "". */
    public Builder backend(String name, String key, String value) {
      return put(backends, name, key, value);
    }

    /**
     * Sets the directory of response caches; {@code /opt/tritonserver/caches} when it is not set.
     */
    public Builder cacheDirectory(Path directory) {
      cacheDirectory = Checks.notNull(directory, "directory");
      return this;
    }

    /** A setting of the cache that keeps the responses. */
    public Builder cache(String name, String key, String value) {
      return put(caches, name, key, value);
    }

    /**
     * Sets the directory of repository agents; {@code /opt/tritonserver/repoagents} when it is not
     * set.
     */
    public Builder agentDirectory(Path directory) {
      agentDirectory = Checks.notNull(directory, "directory");
      return this;
    }

    /**
     * True if a plug-in may run files as code that came with a load: clients that may load models
     * may then run code in this process; false by default.
     */
    public Builder clientCode(boolean runs) {
      clientCode = runs;
      return this;
    }

    private Builder put(
        Map<String, Map<String, String>> settings, String name, String key, String value) {
      settings
          .computeIfAbsent(Checks.notNull(name, "name"), made -> new HashMap<>())
          .put(Checks.notNull(key, "key"), Checks.notNull(value, "value"));
      return this;
    }

    /** The finished value. */
    public PluginOptions build() {
      return new PluginOptions(
          backendDirectory, backends, cacheDirectory, caches, agentDirectory, clientCode);
    }
  }
}
