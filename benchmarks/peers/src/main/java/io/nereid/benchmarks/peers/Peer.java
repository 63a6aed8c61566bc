package io.nereid.benchmarks.peers;

/** A runtime with the model of one workload loaded. */
interface Peer extends AutoCloseable {

  /** Makes what one thread sends a request with, and waits for the answer and checks it. */
  Caller waiting();

  /** Makes what sends a request and returns before its answer, which is told to {@code answers}. */
  default Caller calling(Answers answers) {
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

  /** Is told of answers, on whichever thread brings them; it throws nothing. */
  interface Answers {

    /** The answer is there, and right. The next request may be sent from here. */
    void answered();

    void failed(Throwable failure);
  }
}
