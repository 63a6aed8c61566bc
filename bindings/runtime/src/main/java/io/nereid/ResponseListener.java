package io.nereid;

import io.nereid.types.NereidException;

/**
 * Gets the answer to one request that was sent with {@link InferRequest#submit}: one of the two is
 * called, once. Often on a thread of the core, where other requests wait until it returns, so it
 * must neither block nor work for long: pass on what takes time. Nothing may be thrown.
 */
public interface ResponseListener {

  /** The response, which the receiver closes. */
  void onResponse(InferResponse response);

  /** Hears the reason why there is no response. */
  void onFailure(NereidException failure);
}
