package io.nereid.model;

/** A step in the life of one version of a model. */
public sealed interface ModelEvent {

  /** The model's name. */
  String model();

  /** The model's version. */
  long version();

  /**
   * The version waits for its turn to be loaded.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Waiting(String model, long version) implements ModelEvent {}

  /**
   * Loading has begun; while an older load of the same version is there, it goes on serving.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Loading(String model, long version) implements ModelEvent {}

  /**
   * It takes requests.
   *
   * @param model the model's name
   * @param version the model's version
   * @param times how long loading it took
   */
  record Ready(String model, long version, LoadTimes times) implements ModelEvent {}

  /**
   * An older load of the version, which is ready, has answered its last request and is gone.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Replaced(String model, long version) implements ModelEvent {}

  /**
   * The version takes no more requests, because it is being unloaded, or is an ensemble that misses
   * a model; its open requests are being finished.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Draining(String model, long version) implements ModelEvent {}

  /**
   * The version's backend is closed.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Unloaded(String model, long version) implements ModelEvent {}

  /**
   * The version could not be loaded, and an older load of it, if any, goes on serving; or, after
   * {@link Draining}, it is an ensemble that misses a model.
   *
   * @param model the model's name
   * @param version the model's version
   * @param cause why
   */
  record Failed(String model, long version, RuntimeException cause) implements ModelEvent {}
}
