package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestUpcalls.Outputs;

/**
 * Gets the answers of a request that can have several. It holds the slot, as by {@link Slot#enter},
 * from submission until it needs the record no more.
 */
interface ResponseReceiver {

  /**
   * Takes a response that does not complete the request; takes buffers over by clearing them in the
   * outputs. Called by the core, so nothing may be thrown. May block, except for ensembles, which
   * call {@link #awaitRoom} before.
   */
  void respond(Outputs outputs);

  /**
   * Blocks as long as the reader is behind. Called on the thread of a step's backend that has a
   * response, before the steps behind it run.
   */
  void awaitRoom();

  /** Called when the core gave the record back, on a thread of the core; does not block. */
  void completed();

  /**
   * Called when the sender cancelled the request, so that the backend notices as soon as it can.
   */
  void cancelled();

  /** Called when the model is being unloaded or replaced. */
  void retired();

  /** Ends the request for the user, because the runtime closes. */
  void revoke();
}
