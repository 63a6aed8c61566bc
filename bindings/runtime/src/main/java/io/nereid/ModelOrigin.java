package io.nereid;

import io.nereid.internal.repository.ModelDraft;
import io.nereid.internal.repository.ProtobufConfiguration;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import java.util.Optional;

/** What a version of a model is loaded from, and loaded from again. */
sealed interface ModelOrigin {

  /** The graph of an ensemble; empty for other models. */
  Optional<Ensemble> ensemble();

  /** What is known of the configuration before anything is opened. */
  Optional<ModelConfiguration> configuration();

  /** A specification that the embedder gave. */
  record Code(ModelSpec spec) implements ModelOrigin {

    @Override
    public Optional<Ensemble> ensemble() {
      return spec.ensemble();
    }

    @Override
    public Optional<ModelConfiguration> configuration() {
      return Optional.of(ProtobufConfiguration.of(spec));
    }
  }

  /**
   * A directory of a repository.
   *
   * @param readNs how long reading it took
   * @param parseNs how long understanding it took
   */
  record Directory(ModelDraft draft, long readNs, long parseNs) implements ModelOrigin {

    @Override
    public Optional<Ensemble> ensemble() {
      return draft.opening().ensemble();
    }

    @Override
    public Optional<ModelConfiguration> configuration() {
      return draft.configuration();
    }
  }
}
