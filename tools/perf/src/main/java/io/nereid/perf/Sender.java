package io.nereid.perf;

import io.nereid.types.TaskThreads;
import java.util.concurrent.Executor;

/**
 * One place for a request under way: a connection of HTTP, a call or a stream of gRPC. It sends a
 * given request, and reports the end to its {@link SendingRun}; one thread after the other uses it.
 */
abstract class Sender {

  /** The threads that connect. */
  static final Executor OPENERS = TaskThreads.executor("nrd-perf-open");

  private final int index;
  private final Tally tally;
  private final Requests.Position position;

  /** The due time of the request, from which its latency counts. */
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

  /** Takes a request for {@link #send}; the sender owns the head until the request has ended. */
  final void prepare(Encoded message, byte[] head) {
    rows = message.rows();
    load(message, head);
  }

  abstract void load(Encoded message, byte[] head);

  /** Sends the prepared request. Failures are reported as those of the request. */
  abstract void send();

  abstract void close();
}
