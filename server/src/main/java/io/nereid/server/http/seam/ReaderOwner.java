package io.nereid.server.http.seam;

import io.nereid.server.shared.HeapShare;

/** The connection as its reader sees it: gets the reader's events, and has its limits. */
interface ReaderOwner {

  /** Called before the reader waits for bytes. */
  void awaiting();

  /** Called when bytes have come. */
  void received();

  /** True if nothing of the next request has come. */
  boolean isBetween();

  /** True if the input ended because the client took too long. */
  boolean timedOut();

  /** Called when the client speaks HTTP/1.0. */
  void old();

  /**
   * Serves a request that repeats the last head, on the thread of a round; false: the connection
   * must end.
   */
  boolean repeat(byte[] bytes, int from, int length);

  /** The present request's part of the heap. */
  HeapShare heap();

  /** The limits for clients. */
  SeamLimits limits();
}
