package io.nereid;

import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.request.Slot;
import io.nereid.types.NereidException;

/** Hands the answer of one request to its listener; holds the record until then. */
final class ListenerCompletion implements Runnable {

  private final LoadedModel model;
  private final Slot slot;
  private final long generation;
  private final ResponseListener listener;

  ListenerCompletion(LoadedModel model, Slot slot, long generation, ResponseListener listener) {
    this.model = model;
    this.slot = slot;
    this.generation = generation;
    this.listener = listener;
  }

  /** On the thread that completed the request, after the core gave the record back. */
  @Override
  public void run() {
    InferResponse response;
    try {
      response = Completion.finish(model, slot, generation);
    } catch (NereidException e) {
      listener.onFailure(e);
      return;
    }
    listener.onResponse(response);
  }
}
