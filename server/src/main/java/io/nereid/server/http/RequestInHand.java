package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.server.trace.Trace;
import java.io.IOException;

/**
 * The present request of a connection, as those see it who answer one kind of requests. Used by the
 * thread that serves the request.
 */
interface RequestInHand {

  /** The request and its reply. */
  HttpExchange exchange();

  /** The trace of the request; null when it is not traced. */
  Trace trace();

  /** The model that is to answer, while the server takes any requests. */
  Model model(Route route);

  /** An answer is waited for: the inference is cancelled when its client goes away. */
  void begin(InferRequest request);

  /** There is an answer, or a failure. */
  void answered();

  /** Adds the fields that every reply has; {@code head} is null when it could not be read. */
  void addFields(ProtocolHead head);

  /** Begins a reply of events. */
  void beginEvents(Status status) throws IOException;
}
