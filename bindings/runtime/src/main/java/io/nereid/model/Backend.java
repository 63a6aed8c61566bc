package io.nereid.model;

import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Optional;

/**
 * A backend in Java: makes the instances that execute a model's batches. Models name one by {@link
 * #name}, when it is announced to {@link java.util.ServiceLoader}, by class name, when the class
 * has a public constructor without parameters, or as an object.
 *
 * <p>A backend without state can be a lambda: {@code context -> batch -> ...}.
 */
@FunctionalInterface
public interface Backend {

  /**
   * Makes one instance; called once per instance while the model loads, on the instance's thread.
   * The load fails if this throws.
   */
  BackendInstance open(ModelContext context) throws Exception;

  /** The name by which models refer to the backend; the class's name unless overridden. */
  default String name() {
    return getClass().getName();
  }

  /**
   * The backend that serves a model: another object where models need other versions of a library.
   * Called once for each load, before all other methods.
   *
   * @param spec with the backend's parameters; inputs and outputs may be missing in it
   */
  default Backend forModel(ModelSpec spec) {
    return this;
  }

  /**
   * Returns the facts that the first bytes of a model's files tell, in sentences for people. The
   * method touches no device and needs no library of a vendor, so that it works on any machine,
   * also for a model whose load failed.
   *
   * @param spec with the backend's parameters; inputs and outputs may be missing in it
   * @throws NereidException when the backend cannot take the files, on no machine
   */
  default List<String> inspect(ModelSpec spec) {
    return List.of();
  }

  /**
   * Returns the inputs and outputs that the model itself declares, for configurations that leave
   * them out; empty: it declares none. Called before any instance is opened.
   *
   * @param spec the backend's parameters; inputs and outputs are missing in it
   */
  default Optional<ModelSignature> describe(ModelSpec spec) throws Exception {
    return Optional.empty();
  }

  /** Numbers of the GPUs that instances can run on; none for a backend on the processor. */
  default List<Integer> devices() {
    return List.of();
  }

  /**
   * True if the instances read inputs that lie on the GPU that they run on ({@link
   * BatchRequest#deviceInput}), and write outputs that are wanted there ({@link
   * BatchRequest#deviceOutput}). Such a backend gathers by itself: it reads the inputs of each
   * request, and {@link Batch#input(String)} cannot be called; models with {@link
   * ModelSpec#isGathered} have no tensors on a GPU.
   */
  default boolean takesDeviceTensors() {
    return false;
  }

  /**
   * True if the states of sequences lie in memory of the backend's own, such as a GPU's, and pass
   * from one request to the next ({@link BatchRequest#keptState}, {@link BatchRequest#keepState})
   * without a copy in the runtime's memory. Then {@link Batch#input(String)} has no states, only
   * {@link Batch#inputShape} their shapes, and a state made by {@link Batch#output} only goes to
   * clients that want it. States of BYTES cannot lie there.
   */
  default boolean keepsStates() {
    return false;
  }

  /**
   * Takes back memory that was given to {@link BatchRequest#keepState}: another state has replaced
   * it, the sequence has ended, or the request failed. Called on any thread, perhaps after the
   * instance was closed, while others wait: it must return at once and call nothing of the runtime.
   */
  default void releaseState(DeviceMemory state) {}

  /**
   * True if {@code execute} must always run on the thread that opened the instance, as for APIs
   * that bind state to a thread. Otherwise a quick model may also run on threads that send
   * requests, though never on two at once.
   */
  default boolean ownThread() {
    return false;
  }

  /**
   * Returns the number of batches that an instance executes at once, such as one that is copied to
   * a device while another is computed there. That many instances are opened for each configured
   * one.
   */
  default int batchesInFlight(ModelSpec spec) {
    return 1;
  }

  /**
   * True if the backend reads the inputs of each request by itself. This saves copying the inputs
   * of a batch's requests together before {@code execute}; then only {@link BatchRequest#input} can
   * be called, not {@link Batch#input(String)}. For models with {@link ModelSpec#isGathered} the
   * answer is ignored: every backend gets the inputs of the batch.
   */
  default boolean gathers() {
    return false;
  }

  /**
   * True if no execution can succeed any more in this process, as after a fault of a device. Called
   * after an execution of an isolated model has failed; if so, its process ends, and another one
   * takes its place.
   */
  default boolean isBroken() {
    return false;
  }

  /**
   * Called when a load for which {@link #describe} was called has ended, even by failure: things
   * that were kept for the instances can be dropped. Called on the same object.
   *
   * @param spec what {@link #describe} was called with
   */
  default void loadEnded(ModelSpec spec) {}
}
