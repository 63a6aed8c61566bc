package io.nereid.internal.repository;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import java.util.Optional;

/**
 * A version of a model as its directory has it. Its backend can be opened; how it is served may be
 * left for the model itself to tell.
 */
public interface ModelDraft {

  /** The model's name. */
  String name();

  /** The version. */
  long version();

  /** What its backend is opened with: name, version, backend and parameters, but no tensors. */
  ModelSpec opening();

  /** Whether the configuration leaves out something that the model itself can tell. */
  boolean needsSignature();

  /**
   * What it would be served with, as far as that is known without the model: what is written, and
   * defaults. For a model that cannot be opened. Empty when there is no configuration to tell.
   */
  Optional<ModelConfiguration> configuration();

  /**
   * What it is loaded from.
   *
   * @param signature what the model tells; empty when nobody asked, or it does not tell
   */
  CompletedModel complete(Optional<ModelSignature> signature);
}
