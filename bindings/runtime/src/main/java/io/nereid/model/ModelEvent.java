package io.nereid.model;

/** A step in the life of one version of a model. */
public sealed interface ModelEvent {

  /** The model's name. */
  String model();

  /** The model's version. */
  long version();

  /**
   * It will be loaded, as soon as its turn comes.
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
   * It was ready before, and an older load of it has answered its last request and is gone.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Replaced(String model, long version) implements ModelEvent {}

  /**
   * It takes no more requests, because it is being unloaded, or is an ensemble that misses a model;
   * those it has are being finished.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Draining(String model, long version) implements ModelEvent {}

  /**
   * Its backend is closed.
   *
   * @param model the model's name
   * @param version the model's version
   */
  record Unloaded(String model, long version) implements ModelEvent {}

  /**
   * It could not be loaded, while an older load of it goes on serving if there is one; or, after
   * {@link Draining}, it is an ensemble that misses a model.
   *
   * @param model the model's name
   * @param version the model's version
   * @param cause why
   */
  record Failed(String model, long version, RuntimeException cause) implements ModelEvent {}
}
