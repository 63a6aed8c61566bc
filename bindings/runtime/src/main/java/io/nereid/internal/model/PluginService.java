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
 * The plug-ins made for Triton, as the runtime that owns them needs them. The artifact {@code
 * nereid-triton} runs them; the methods of this interface itself find none, and refuse what needs
 * one. Any thread may call.
 */
public interface PluginService extends PluginRuntime, AutoCloseable {

  /** Makes what runs plug-ins; found by {@link ServiceLoader}. */
  interface Provider {

    /** The plug-ins in the directories of the options; none is loaded yet. */
    PluginService open(PluginOptions options);
  }

  /**
   * The runtime that owns plug-ins, as far as they may ask of it.
   *
   * @param options tell whether backends may complete configurations
   * @param index the index of the repositories
   * @param load loads a model by name
   * @param unload unloads a model by name, with those that only it uses where that is true
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

  /** Lets all of it go; the runtime is gone, or is left behind. */
  @Override
  default void close() {}
}
