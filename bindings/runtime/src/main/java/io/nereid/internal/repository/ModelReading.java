package io.nereid.internal.repository;

import java.util.List;

/**
 * What one model's directory holds.
 *
 * @param versions each version to serve, or one broken one for the whole model; never empty
 * @param readNs time spent with the file system
 * @param parseNs time spent understanding it
 */
public record ModelReading(List<RepositoryModel> versions, long readNs, long parseNs) {

  /** Copies the list. */
  public ModelReading {
    versions = List.copyOf(versions);
  }
}
