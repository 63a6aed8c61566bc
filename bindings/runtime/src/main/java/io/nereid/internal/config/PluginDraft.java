package io.nereid.internal.config;

import io.nereid.model.Ensemble;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A version of a model that a plug-in runs. The plug-in reads the configuration itself, and may
 * complete it while it opens the model.
 *
 * @param reader reads the configuration for this version
 * @param opening the specification to open the backend with: name, version and backend, but no
 *     tensors
 * @param autoComplete whether the backend may complete the configuration
 * @param told paths of the values that the backend told
 * @param times how long reading it took
 */
public record PluginDraft(
    SpecReader reader, ModelSpec opening, boolean autoComplete, Set<String> told, LoadTimes times)
    implements ModelDraft {

  @Override
  public String name() {
    return opening.name();
  }

  @Override
  public long version() {
    return opening.version();
  }

  @Override
  public Optional<Ensemble> ensemble() {
    return Optional.empty();
  }

  @Override
  public Optional<ModelConfiguration> configuration() {
    return Optional.of(reader.configuration(told));
  }

  /** The model's directory. */
  public Path directory() {
    return reader.directory();
  }

  /** The library that the configuration names; empty: none. */
  public String runtime() {
    return config().getRuntime();
  }

  /** True if the configuration names libraries of custom operators. */
  public boolean operators() {
    return config().getModelOperations().getOpLibraryFilenameCount() > 0;
  }

  /** Returns the place where the configuration names the backend; empty: it does not. */
  public String backendPlace() {
    int[] fields = {ModelConfig.BACKEND_FIELD_NUMBER, ModelConfig.PLATFORM_FIELD_NUMBER};
    for (int field : fields) {
      if (reader.root().isWritten(field)) {
        return reader.root().place(ModelConfig.getDescriptor().findFieldByNumber(field), 0);
      }
    }
    return "";
  }

  private ModelConfig config() {
    return reader.root().as(ModelConfig.class);
  }

  /** The configuration, JSON as Triton has it. */
  public String json() {
    return reader.configuration(told).toJson();
  }

  /**
   * Returns this draft with all values that Triton fills in before the backend sees the
   * configuration.
   */
  public PluginDraft prepared(PluginConfig.Defaults defaults) {
    return with(PluginConfig.prepare(reader.root(), opening, defaults), told);
  }

  /**
   * Returns this draft with the values that the backend told.
   *
   * @param json the whole configuration, as the backend has it
   * @throws NereidException it is no configuration, or none that can be served
   */
  public PluginDraft completed(String json) {
    if (!autoComplete) {
      throw reader.root().invalid("its backend completes the configuration, which is off");
    }
    String shown = name() + ": the configuration of its backend";
    ModelConfig given = JsonConfigReader.read(json, shown).as(ModelConfig.class);
    ModelConfig merged = PluginConfig.merge(reader.root(), given);
    PluginDraft completed = with(merged, PluginConfig.differences(config(), merged));
    completed.complete(Optional.empty());
    return completed;
  }

  private PluginDraft with(ModelConfig config, Set<String> told) {
    return new PluginDraft(reader.with(config), opening, autoComplete, told, times);
  }

  /** Returns this draft, after checking that nothing is missing. */
  PluginDraft checked() {
    complete(Optional.empty());
    return this;
  }

  @Override
  public Whole complete(Optional<ModelSignature> signature) {
    List<String> missing = AutoComplete.missing(reader.root());
    if (!missing.isEmpty()) {
      String why =
          autoComplete
              ? "the backend '" + opening.backendName() + "' does not tell it"
              : "auto-completion is off";
      throw ModelDraft.incomplete(reader, missing, why);
    }
    return new Whole(reader.read(), reader.configuration(told), times);
  }

  @Override
  public PluginDraft timed(LoadTimes times) {
    return new PluginDraft(reader, opening, autoComplete, told, times);
  }
}
