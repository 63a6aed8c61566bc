package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestUpcalls.Outputs;

/**
 * It gets the answers of a request that can have several. It holds the slot, as by {@link
 * Slot#enter}, from submission until it needs the record no more.
 */
interface ResponseReceiver {

  /**
   * A response besides the one that completes the request. Takes buffers over by clearing them in
   * the outputs. Called by the core, so nothing may be thrown. May block where {@link #awaitRoom}
   * is not called before: not for ensembles.
   */
  void respond(Outputs outputs);

  /**
   * Blocks as long as the reader is behind. Called on a thread of the backend that has a response,
   * which gets here when the rest of the ensemble is done with it.
   */
  void awaitRoom();

  /** The core gave the record back. Called on a thread of the core: does not block. */
  void completed();

  /** The request was cancelled by its sender: the backend is to notice as soon as it can. */
  void cancelled();

  /** The model is on its way out. */
  void retired();

  /** The runtime closes: ends it in the user's stead. */
  void revoke();
}
