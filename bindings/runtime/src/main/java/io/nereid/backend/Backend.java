package io.nereid.backend;

/**
 * A backend in Java: makes the instances that execute a model's batches. Models name one by {@link
 * #name}, when it is announced to {@link java.util.ServiceLoader}, by class name, when the class
 * has a public constructor without parameters, or as an object.
 *
 * <p>One that keeps nothing is a lambda: {@code context -> batch -> ...}.
 */
@FunctionalInterface
public interface Backend {

  /**
   * Makes one instance; called once per instance while the model loads, on the instance's thread.
   * What is thrown here makes the load fail.
   */
  BackendInstance open(ModelContext context) throws Exception;

  /** How models call it; the class's name unless overridden. */
  default String name() {
    return getClass().getName();
  }

  /**
   * Whether {@code execute} must always run on the thread that opened the instance, as for APIs
   * that bind state to a thread. Otherwise a quick model may also run on threads that send
   * requests, though never on two at once.
   */
  default boolean ownThread() {
    return false;
  }
}
