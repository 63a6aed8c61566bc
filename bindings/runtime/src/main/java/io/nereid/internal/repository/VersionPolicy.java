package io.nereid.internal.repository;

import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelVersionPolicy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.NavigableSet;
import java.util.TreeSet;

/** Chooses which versions of a model are served. */
final class VersionPolicy {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  /** Each becomes a model of its own. */
  private static final int MAX_SPECIFIC = 1024;

  private VersionPolicy() {}

  /**
   * The versions to serve, ascending and at least one. What the configuration asks for by its
   * number and has no directory is logged, and left out.
   */
  static NavigableSet<Long> select(String model, ConfigNode root, NavigableSet<Long> there) {
    ModelConfig config = root.as(ModelConfig.class);
    ModelVersionPolicy policy = config.getVersionPolicy();
    NavigableSet<Long> selected =
        switch (policy.getPolicyChoiceCase()) {
          case ALL -> there;
          case SPECIFIC ->
              present(model, specific(root, policy.getSpecific().getVersionsList()), there);
          case LATEST -> latest(there, policy.getLatest().getNumVersions());
          case POLICYCHOICE_NOT_SET -> latest(there, 1);
        };
    if (selected.isEmpty()) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "at least one version must be available under the version policy of model '"
              + model
              + "': expected a directory with a number for a name, such as 1, beside config.pbtxt");
    }
    return selected;
  }

  /** The field is unsigned; 0 means 1. */
  private static NavigableSet<Long> latest(NavigableSet<Long> there, int count) {
    long most = Math.max(1, Integer.toUnsignedLong(count));
    TreeSet<Long> latest = new TreeSet<>();
    there.descendingSet().stream().limit(most).forEach(latest::add);
    return latest;
  }

  private static NavigableSet<Long> present(
      String model, NavigableSet<Long> asked, NavigableSet<Long> there) {
    TreeSet<Long> present = new TreeSet<>();
    for (long version : asked) {
      if (there.contains(version)) {
        present.add(version);
      } else {
        LOGGER.log(
            Level.ERROR,
            "version "
                + version
                + " is specified for model '"
                + model
                + "', but the version directory is not present");
      }
    }
    return present;
  }

  private static NavigableSet<Long> specific(ConfigNode root, Collection<Long> versions) {
    if (versions.size() > MAX_SPECIFIC) {
      throw root.invalid(
          ModelConfig.VERSION_POLICY_FIELD_NUMBER,
          "version_policy: expected at most "
              + MAX_SPECIFIC
              + " specific versions, got "
              + versions.size());
    }
    for (long version : versions) {
      if (version <= 0) {
        throw root.invalid(
            ModelConfig.VERSION_POLICY_FIELD_NUMBER,
            "version_policy: expected versions from 1 on, got " + version);
      }
    }
    return new TreeSet<>(versions);
  }
}
