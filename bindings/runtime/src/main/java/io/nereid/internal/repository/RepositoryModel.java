package io.nereid.internal.repository;

import io.nereid.ModelSpec;
import io.nereid.NereidException;
import java.util.Objects;

/** What the repository holds of one version of a model. */
public sealed interface RepositoryModel {

  /** The model's name, which is that of its directory. */
  String name();

  /** The version; 0 for a model that is broken as a whole. */
  long version();

  /** It can be loaded. */
  record Readable(ModelSpec spec) implements RepositoryModel {

    /** Checks that there is something. */
    public Readable {
      Objects.requireNonNull(spec);
    }

    @Override
    public String name() {
      return spec.name();
    }

    @Override
    public long version() {
      return spec.version();
    }
  }

  /** It cannot be loaded, and why. */
  record Broken(String name, long version, NereidException cause) implements RepositoryModel {}
}
