package io.nereid.internal.repository;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** One version of a model whose configuration can be read, but may have gaps. */
final class ConfigDraft implements ModelDraft {

  private final ConfigNode root;
  private final ModelFiles files;
  private final long version;
  private final int defaultMaxBatchSize;
  private final StepNames steps;
  private final BackendNames.Found backend;
  private final List<String> missing;
  private final ModelSpec opening;

  /** What it is loaded from, where nothing has to be completed. */
  private final Optional<ModelSpec> whole;

  ConfigDraft(ConfigNode root, ModelFiles files, ReadOptions options, long version) {
    this.root = root;
    this.files = files;
    this.version = version;
    defaultMaxBatchSize = options.defaultMaxBatchSize();
    steps = options.steps();
    backend = BackendNames.find(root, files.version(version));
    missing = AutoComplete.missing(root);
    opening = reader(root).readOpening();
    if (!missing.isEmpty() && !options.autoComplete()) {
      throw incomplete("auto-completion is off");
    }
    whole = missing.isEmpty() ? Optional.of(reader(root).read()) : Optional.empty();
  }

  private SpecReader reader(ConfigNode config) {
    return new SpecReader(config, files, backend, steps, version);
  }

  private NereidException incomplete(String why) {
    return root.invalid(
        "the configuration lacks " + String.join(", ", missing) + ", and " + why + ": add it");
  }

  @Override
  public String name() {
    return files.name();
  }

  @Override
  public long version() {
    return version;
  }

  @Override
  public ModelSpec opening() {
    return opening;
  }

  @Override
  public boolean needsSignature() {
    return whole.isEmpty();
  }

  @Override
  public Optional<ModelConfiguration> configuration() {
    ProtobufConfiguration known = configuration(root, Set.of());
    if (whole.isPresent() || !AutoComplete.tellsMaxBatchSize(root)) {
      return Optional.of(known);
    }
    // Its 0 is no default: nobody knows it yet.
    List<ModelConfiguration.Value> values =
        known.values().stream().filter(value -> !value.path().equals("max_batch_size")).toList();
    return Optional.of(new ProtobufConfiguration(known.message(), values));
  }

  @Override
  public CompletedModel complete(Optional<ModelSignature> signature) {
    if (whole.isPresent()) {
      return new CompletedModel(whole.get(), configuration(root, Set.of()));
    }
    ModelSignature told =
        signature.orElseThrow(
            () -> incomplete("the backend '" + backend.name() + "' cannot tell it"));
    AutoComplete.Completed completed = AutoComplete.complete(root, told, defaultMaxBatchSize);
    ConfigNode node = root.withMessage(completed.config());
    return new CompletedModel(reader(node).read(), configuration(node, completed.told()));
  }

  private ProtobufConfiguration configuration(ConfigNode node, Set<String> told) {
    return EffectiveConfig.of(node, files.name(), backend, told);
  }

  @Override
  public String toString() {
    return "draft of model '"
        + files.name()
        + "' version "
        + version
        + (root.as(ModelConfig.class).hasEnsembleScheduling() ? ", an ensemble" : "");
  }
}
