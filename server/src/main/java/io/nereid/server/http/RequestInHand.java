package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.server.trace.Trace;
import java.io.IOException;

/**
 * The present request of a connection, as the handlers of endpoints see it. Used by the thread that
 * serves the request.
 */
interface RequestInHand {

  /** The request and its reply. */
  HttpExchange exchange();

  /** The trace of the request; null when it is not traced. */
  Trace trace();

  /** The model that answers; throws while the server takes no requests. */
  Model model(Route route);

  /** Called before waiting for an answer: cancels the inference if its client goes away. */
  void begin(InferRequest request);

  /** Called when there is an answer, or a failure. */
  void answered();

  /** Adds the fields that every reply has; {@code head} is null when it could not be read. */
  void addFields(ProtocolHead head);

  /** Begins a reply of events. */
  void beginEvents(Status status) throws IOException;
}
