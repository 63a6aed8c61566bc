package io.nereid.benchmarks.peers;

import java.util.function.Consumer;

/** A runtime with the model of one workload loaded. */
interface Peer extends AutoCloseable {

  /** Makes what one thread sends a request with, and waits for the answer and checks it. */
  Caller waiting();

  /**
   * Makes a caller that returns before the answer. {@code answered} is told of each answer, on the
   * thread that brings it: null if it is right, else the failure. It throws nothing, and the next
   * request may be sent from within it.
   */
  default Caller calling(Consumer<Throwable> answered) {
    throw new UnsupportedOperationException(getClass().getSimpleName() + " has no callbacks");
  }

  @Override
  void close();

  /** One request at a time, with resources that are made once and kept. */
  interface Caller extends AutoCloseable {

    /** Sends the request. */
    void send();

    /** Only after the last answer. */
    @Override
    default void close() {}
  }
}
