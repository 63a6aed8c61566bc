package io.nereid.server.http.seam;

import io.nereid.server.shared.HeapShare;

/** The connection as its reader sees it: the reader tells what it does, and asks what it may. */
interface ReaderOwner {

  /** The reader is about to wait for bytes. */
  void awaiting();

  /** Bytes have come. */
  void received();

  /** True if nothing of the next request has come. */
  boolean isBetween();

  /** True if the input ended because the client took too long. */
  boolean timedOut();

  /** The client speaks HTTP/1.0. */
  void old();

  /**
   * Serves a request whose head is the last one, on the thread of a round; false: the connection is
   * to end.
   */
  boolean repeat(byte[] bytes, int from, int length);

  /** The present request's part of the heap. */
  HeapShare heap();

  /** The most that clients may ask. */
  SeamLimits limits();
}
