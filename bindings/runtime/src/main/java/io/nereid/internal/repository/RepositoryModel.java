package io.nereid.internal.repository;

import io.nereid.types.NereidException;
import java.util.Objects;

/** What the repository holds of one version of a model. */
public sealed interface RepositoryModel {

  /** The model's name, which is that of its directory. */
  String name();

  /** The version; 0 for a model that is broken as a whole. */
  long version();

  /** It can be loaded. */
  record Readable(ModelDraft draft) implements RepositoryModel {

    /** Checks that there is something. */
    public Readable {
      Objects.requireNonNull(draft);
    }

    @Override
    public String name() {
      return draft.name();
    }

    @Override
    public long version() {
      return draft.version();
    }
  }

  /** It cannot be loaded, and why. */
  record Broken(String name, long version, NereidException cause) implements RepositoryModel {}
}
