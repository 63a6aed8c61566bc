package io.nereid.perf;

import java.io.IOException;

/** Takes the results of senders' requests, on any thread; no call blocks. */
interface SendingRun {

  /** The request of a sender was answered; gives it the next one. */
  void succeeded(Sender sender, long nowNs);

  /** The request of a sender failed. The sender calls {@link #ready} when it can send again. */
  void failed(Sender sender, String status, String text);

  /** A sender could not be connected again; it goes on trying. */
  void failedToConnect(Sender sender, IOException cause);

  /** Called when a sender can send: it gets the next request, if there is one. */
  void ready(Sender sender, long nowNs);

  /** True if no more requests are to be sent. */
  boolean isStopping();
}
