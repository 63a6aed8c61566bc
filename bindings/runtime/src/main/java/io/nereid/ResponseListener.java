package io.nereid;

import io.nereid.types.NereidException;

/**
 * Gets the answer to one request that was sent with {@link InferRequest#submit}: one of the two
 * methods is called, once. The calling thread is often the core's, where other requests wait, so a
 * listener must neither block nor work for long, nor throw.
 */
public interface ResponseListener {

  /** The response, which the receiver closes. */
  void onResponse(InferResponse response);

  /** Takes the reason why there is no response. */
  void onFailure(NereidException failure);
}
