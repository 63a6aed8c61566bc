package io.nereid.internal.config;

import io.nereid.model.Ensemble;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One version of a model on its way from its description to being served. A program's {@link
 * ModelSpec} makes a {@link Whole} one; a directory may also make a {@link Partial} one, which the
 * model itself completes when its backend has opened it, a {@link PluginDraft}, whose backend is a
 * plug-in, or a {@link Broken} one, which says why it cannot be loaded. Drafts never change: what a
 * model was loaded from can be loaded again.
 */
public sealed interface ModelDraft
    permits ModelDraft.Whole, ModelDraft.Broken, ModelDraft.Partial, PluginDraft {

  /** The model's name. */
  String name();

  /** The version; 0 for a model that is broken as a whole. */
  long version();

  /** The graph of an ensemble; empty for other models, and where it could not be read. */
  Optional<Ensemble> ensemble();

  /**
   * The configuration that the model would be served with, as far as that is known without the
   * model: the written values and the defaults. It is empty when the configuration could not be
   * read.
   */
  Optional<ModelConfiguration> configuration();

  /**
   * The draft with nothing missing.
   *
   * @param signature the model's own signature; empty when the model was not asked, or has none
   * @throws NereidException the model cannot be loaded
   */
  Whole complete(Optional<ModelSignature> signature);

  /** The time that reading the directory and understanding the configuration took. */
  LoadTimes times();

  /**
   * Returns this draft with the time that reading the directory and understanding the configuration
   * took.
   */
  ModelDraft timed(LoadTimes times);

  /**
   * A draft with everything that serving the model needs.
   *
   * @param spec the specification to load
   * @param served the same as a configuration, with each value's origin
   * @param times how long reading it took; nothing was loaded yet
   */
  record Whole(ModelSpec spec, ProtobufConfiguration served, LoadTimes times)
      implements ModelDraft {

    @Override
    public String name() {
      return spec.name();
    }

    @Override
    public long version() {
      return spec.version();
    }

    @Override
    public Optional<Ensemble> ensemble() {
      return spec.ensemble();
    }

    @Override
    public Optional<ModelConfiguration> configuration() {
      return Optional.of(served);
    }

    @Override
    public Whole complete(Optional<ModelSignature> signature) {
      return this;
    }

    /**
     * Returns this draft, decoupled or not as an ensemble's steps require, regardless of its
     * configuration.
     */
    public Whole withDecoupled(boolean decoupled) {
      return decoupled == spec.decoupled()
          ? this
          : new Whole(spec.withDecoupled(decoupled), served.withDecoupled(decoupled), times);
    }

    @Override
    public Whole timed(LoadTimes times) {
      return new Whole(spec, served, times);
    }
  }

  /**
   * A version that cannot be loaded.
   *
   * @param cause the reason
   */
  record Broken(String name, long version, NereidException cause) implements ModelDraft {

    @Override
    public Optional<Ensemble> ensemble() {
      return Optional.empty();
    }

    @Override
    public Optional<ModelConfiguration> configuration() {
      return Optional.empty();
    }

    @Override
    public LoadTimes times() {
      return LoadTimes.NONE;
    }

    @Override
    public Whole complete(Optional<ModelSignature> signature) {
      throw cause;
    }

    @Override
    public Broken timed(LoadTimes times) {
      return this;
    }
  }

  /**
   * A draft whose configuration leaves out fields that the model can tell, once its backend is
   * open.
   *
   * @param reader reads the configuration for this version
   * @param opening the specification to open the backend with: name, version, backend and
   *     parameters, but no tensors
   * @param missing the fields that are left out, in words
   * @param defaultMaxBatchSize the size for a model that has a batch dimension and tells none
   * @param given a program's description, if it is that which has gaps
   * @param times how long reading it took
   */
  record Partial(
      SpecReader reader,
      ModelSpec opening,
      List<String> missing,
      int defaultMaxBatchSize,
      Optional<ModelSpec> given,
      LoadTimes times)
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
      return opening.ensemble();
    }

    @Override
    public Optional<ModelConfiguration> configuration() {
      ProtobufConfiguration known = reader.configuration(Set.of());
      if (!AutoComplete.tellsMaxBatchSize(reader.root())) {
        return Optional.of(known);
      }
      // Its 0 is not a default but unknown as yet.
      List<ModelConfiguration.Value> values =
          known.values().stream().filter(value -> !value.path().equals("max_batch_size")).toList();
      return Optional.of(new ProtobufConfiguration(known.message(), values));
    }

    @Override
    public Whole complete(Optional<ModelSignature> signature) {
      ModelSignature told =
          signature.orElseThrow(
              () -> incomplete("the backend '" + opening.backendName() + "' cannot tell it"));
      AutoComplete.Completed completed =
          AutoComplete.complete(reader.root(), told, defaultMaxBatchSize);
      SpecReader all = reader.with(completed.config());
      return given
          .map(spec -> FileDraft.complete(spec, all.read()))
          .orElseGet(() -> new Whole(all.read(), all.configuration(completed.told()), times));
    }

    NereidException incomplete(String why) {
      return ModelDraft.incomplete(reader, missing, why);
    }

    @Override
    public Partial timed(LoadTimes times) {
      return new Partial(reader, opening, missing, defaultMaxBatchSize, given, times);
    }
  }

  /** The exception for missing fields that the model cannot tell either. */
  static NereidException incomplete(SpecReader reader, List<String> missing, String why) {
    String lacks = "the configuration lacks " + String.join(", ", missing);
    return reader.root().invalid(lacks + ", and " + why + ": add it");
  }

  /** Returns the draft of a model that a program describes. */
  static ModelDraft of(ModelSpec spec) {
    return FileDraft.isMeant(spec)
        ? FileDraft.of(spec)
        : new Whole(spec, ProtobufConfiguration.of(spec), LoadTimes.NONE);
  }

  /** Returns the draft of one version of a model, from the model's configuration. */
  static ModelDraft of(ConfigNode root, ModelFiles files, ReadOptions options, long version) {
    SpecReader reader = new SpecReader(root, files, options, version);
    List<String> missing = AutoComplete.missing(root);
    ModelSpec opening = reader.readOpening();
    if (reader.isOfPlugin()) {
      PluginDraft draft =
          new PluginDraft(reader, opening, options.autoComplete(), Set.of(), LoadTimes.NONE);
      return options.autoComplete() ? draft : draft.checked();
    }
    if (missing.isEmpty()) {
      return new Whole(reader.read(), reader.configuration(Set.of()), LoadTimes.NONE);
    }
    Partial partial =
        new Partial(
            reader,
            opening,
            missing,
            FileDraft.maxBatchSize(files, options),
            Optional.empty(),
            LoadTimes.NONE);
    if (!options.autoComplete()) {
      throw partial.incomplete("auto-completion is off");
    }
    return partial;
  }
}
