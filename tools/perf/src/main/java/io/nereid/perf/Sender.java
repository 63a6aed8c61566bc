package io.nereid.perf;

import io.nereid.types.TaskThreads;
import java.util.concurrent.Executor;

/**
 * One place for a request under way: a connection of HTTP, a call or a stream of gRPC. It is given
 * a request, sends it, and tells its {@link LoadRun} how that ended; so a sender is touched by one
 * thread after the other.
 */
abstract class Sender {

  /** The threads that connect. */
  static final Executor OPENERS = TaskThreads.executor("nrd-perf-open");

  private final int index;
  private final Tally tally;
  private final Requests.Position position;

  /** When the request should have been sent; latencies count from here. */
  private long intendedNs;

  /** The time that the request may take; 0: any. */
  private long allowedNs;

  private int rows;

  Sender(int index, Tally tally, Requests.Position position) {
    this.index = index;
    this.tally = tally;
    this.position = position;
  }

  final int index() {
    return index;
  }

  final Tally tally() {
    return tally;
  }

  final Requests.Position position() {
    return position;
  }

  final long intendedNs() {
    return intendedNs;
  }

  final void intend(long atNs) {
    intendedNs = atNs;
  }

  final long allowedNs() {
    return allowedNs;
  }

  final void allow(long timeNs) {
    allowedNs = timeNs;
  }

  final int rows() {
    return rows;
  }

  /** Takes a request to be sent by {@link #send}; the head is the sender's until it has ended. */
  final void prepare(Encoded message, byte[] head) {
    rows = message.rows();
    load(message, head);
  }

  abstract void load(Encoded message, byte[] head);

  /** Sends what was loaded. Failures are told as those of the request. */
  abstract void send();

  abstract void close();
}
