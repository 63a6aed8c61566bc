package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Prepares the directories that models are read from: it fetches repositories from object stores,
 * and verifies signed models and decrypts sealed ones. The artifact {@code nereid-stores}
 * implements it; the default methods do nothing, which suits plain directories. Threads that load
 * models and the polling thread call it concurrently.
 */
public interface ModelStore extends AutoCloseable {

  /** The store for plain directories. */
  ModelStore LOCAL = new ModelStore() {};

  /** Opens stores; found by {@link ServiceLoader}. */
  interface Provider {

    /** A store for repositories, whose lists are asked for in the background. */
    ModelStore open(StoreOptions options);
  }

  /**
   * The place that a model is read from.
   *
   * @param place the model's own, or that of its opened copy
   * @param release gives back the copy, when the model is gone or was not wanted
   */
  record Content(Path place, Runnable release) {

    /** A model that is read where it lies. */
    public static Content at(Path place) {
      return new Content(place, () -> {});
    }
  }

  /**
   * The state of a repository in an object store.
   *
   * @param repository its URL, without secrets
   * @param reachable whether the store answered when it was asked last
   * @param fetchedBytes fetched since the start
   * @param waitingBytes still to be fetched for the models that are wanted
   * @param faultCount unusable answers of the store, and broken connections
   * @param waiting the reasons why models differ from the store's, by name
   */
  record Status(
      String repository,
      boolean reachable,
      long fetchedBytes,
      long waitingBytes,
      long faultCount,
      Map<String, String> waiting) {}

  /** Opens the store of the artifact {@code nereid-stores}. */
  static ModelStore open(StoreOptions options) {
    Checks.notNull(options, "options");
    return ServiceLoader.load(Provider.class)
        .findFirst()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.UNAVAILABLE,
                "repositories in object stores, signatures and sealed models need the artifact"
                    + " nereid-stores, which is not on the class path"))
        .open(options);
  }

  /** The directories in which the repositories appear; the store's models come and go there. */
  default List<Path> repositories() {
    return List.of();
  }

  /**
   * Asks each repository for its list of models, and begins to fetch. Does not throw when a
   * repository that was listed before cannot be reached.
   *
   * @param all whether all models are wanted, or only those that {@link #fetch} is called for
   */
  default void look(boolean all) {}

  /**
   * Waits until a model's place holds what the repository's last list says. The old content stays
   * until then, and when this throws.
   *
   * @param place may be of any repository
   */
  default void fetch(Path place) {}

  /** Checks a model and opens it; a model that does not match its signature is refused. */
  default Content open(Path place) {
    return Content.at(place);
  }

  /** True if models must be signed, so that files which come with a load are refused. */
  default boolean requiresSignature() {
    return false;
  }

  /**
   * Describes the progress of fetching and about the time left; empty: nothing is being fetched.
   */
  default String progress() {
    return "";
  }

  /** The state of each repository in an object store. */
  default List<Status> status() {
    return List.of();
  }

  /** Stops fetching, and deletes the directories; the cache stays. */
  @Override
  default void close() {}
}
