package io.nereid.triton;

import io.nereid.internal.JsonText;
import io.nereid.internal.model.ModelDocuments;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.PluginService;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes documents about the server and its models for plug-ins, the same as those of the HTTP
 * endpoints.
 */
final class PluginDocuments {

  /** The runtime's extensions of the protocol, by the protocol's names. */
  private static final List<String> EXTENSIONS =
      List.of(
          "model_configuration",
          "model_repository",
          "model_repository(unload_dependents)",
          "parameters",
          "schedule_policy",
          "sequence",
          "statistics");

  private final PluginService.Owner owner;

  PluginDocuments(PluginService.Owner owner) {
    this.owner = owner;
  }

  /**
   * Writes a document.
   *
   * @param kind {@code NRT_SERVER_METADATA} and so on
   * @param name the model; empty: all models, for documents that allow it
   * @param version -1: the one that requests without a version get; for statistics, all
   */
  String document(int kind, String name, long version) {
    return switch (kind) {
      case 0 -> server();
      case 1 -> metadata(ready(name, version), version);
      case 2 -> ModelDocuments.configuration(ready(name, version)).toJson();
      case 3 -> statistics(name, version);
      case 4 -> index(false);
      case 5 -> index(true);
      default ->
          throw new NereidException(
              StatusCode.UNIMPLEMENTED, "there is no document of the kind " + kind);
    };
  }

  /** The model of this name that takes requests; a version below 0: any. */
  ModelEntry ready(String name, long version) {
    return version < 0 ? owner.models().ready(name) : owner.models().ready(name, version);
  }

  private static String server() {
    String version = PluginDocuments.class.getPackage().getImplementationVersion();
    return JsonText.of(
        JsonText.object()
            .with("name", "nereid")
            .with("version", version == null ? "dev" : version)
            .with("extensions", EXTENSIONS));
  }

  private String metadata(ModelEntry entry, long version) {
    return ModelDocuments.metadata(
        entry,
        owner.models().versions(entry.id().key()).reversed().stream()
            .filter(one -> one.state() == ModelState.READY)
            .filter(one -> version < 0 || one == entry)
            .map(one -> Long.toString(one.version()))
            .toList());
  }

  private String index(boolean readyOnly) {
    return JsonText.of(
        owner.index().get().stream()
            .filter(entry -> !readyOnly || entry.state() == ModelIndexEntry.State.READY)
            .map(PluginDocuments::indexed)
            .toList());
  }

  private static JsonText.Members indexed(ModelIndexEntry entry) {
    JsonText.Members told = JsonText.object().with("name", entry.name());
    entry.version().ifPresent(version -> told.with("version", Long.toString(version)));
    if (entry.state() != ModelIndexEntry.State.UNKNOWN) {
      told.with("state", entry.state().name());
      told.with("reason", entry.reason());
    }
    return told;
  }

  private String statistics(String name, long version) {
    List<ModelEntry> told =
        owner.models().all().stream()
            .filter(entry -> entry.state() == ModelState.READY)
            .filter(entry -> name.isEmpty() || entry.name().equals(name))
            .filter(entry -> name.isEmpty() || version < 0 || entry.version() == version)
            .toList();
    if (told.isEmpty() && !name.isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "requested model '%s%s is not available"
              .formatted(name, version < 0 ? "'" : "' version " + version));
    }
    return told.stream()
        .map(ModelDocuments::statistics)
        .collect(Collectors.joining(",", "{\"model_stats\":[", "]}"));
  }
}
