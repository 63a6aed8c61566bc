package io.nereid.internal.model;

import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelOverride;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Runs plug-ins made for Triton, for the runtime that owns them. The artifact {@code nereid-triton}
 * implements it; the default methods find no plug-ins and refuse models that need one. Any thread
 * may call.
 */
public interface PluginService extends PluginRuntime, AutoCloseable {

  /** Makes the service that runs plug-ins; found by {@link ServiceLoader}. */
  interface Provider {

    /** The plug-ins in the directories of the options; none is loaded yet. */
    PluginService open(PluginOptions options);
  }

  /**
   * The functions of the owning runtime that plug-ins may use.
   *
   * @param options tell whether backends may complete configurations
   * @param index the index of the repositories
   * @param load loads a model by name
   * @param unload unloads a model by name; true: with the models that only it uses
   */
  record Owner(
      NativeRuntime runtime,
      ModelLifecycle lifecycle,
      ModelTable models,
      RepositoryOptions options,
      Supplier<List<ModelIndexEntry>> index,
      BiConsumer<String, Optional<ModelOverride>> load,
      BiConsumer<String, Boolean> unload) {}

  /** The plug-ins in the directories of the options; no plug-ins without {@code nereid-triton}. */
  static PluginService of(PluginOptions options) {
    return ServiceLoader.load(Provider.class)
        .findFirst()
        .map(provider -> provider.open(options))
        .orElse(() -> options);
  }

  /** Takes the runtime that answers plug-ins, before the first of them is loaded. */
  default void attach(Owner owner) {}

  /** Opens the response cache that the options name, before models are loaded. */
  default void openCache() {
    for (String name : options().caches().keySet()) {
      throw PluginRuntime.lacking("response cache '" + name + "'");
    }
  }

  /** The metrics that plug-ins made, in the text format of Prometheus; empty: none. */
  default String metrics() {
    return "";
  }

  /** Releases all plug-ins, after the runtime was released or given up. */
  @Override
  default void close() {}
}
