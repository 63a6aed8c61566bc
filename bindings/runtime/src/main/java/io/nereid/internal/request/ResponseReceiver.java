package io.nereid.internal.request;

/**
 * Who gets the answers of a request that can have several. It holds the slot, as by {@link
 * Slot#enter}, from submission until it needs the record no more.
 */
public interface ResponseReceiver extends Revocable {

  /**
   * A response besides the one that completes the request: {@code count} tensors at address {@code
   * outputs}. Takes a buffer over by clearing its slab. May block; called by the core, so nothing
   * may be thrown.
   */
  void respond(long outputs, int count);

  /** The core gave the record back. Called on a thread of the core: does not block. */
  void completed();

  /** The request was cancelled by its sender: the backend is to notice as soon as it can. */
  void cancelled();

  /** The model is on its way out. */
  void retired();
}
