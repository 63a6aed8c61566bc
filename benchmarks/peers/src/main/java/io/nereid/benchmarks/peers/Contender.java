package io.nereid.benchmarks.peers;

/** A runtime with one model loaded, of a {@link Side} for a {@link Workload}. */
interface Contender extends AutoCloseable {

  /** For one thread that sends a request and waits for the answer, again and again. */
  Caller caller();

  /** For requests without waiting threads. */
  default Sender sender(Answers answers) {
    throw new UnsupportedOperationException(getClass().getSimpleName() + " has no callbacks");
  }

  /**
   * A value of its first answer, which must be the same for every side; 0 where each answer is
   * known beforehand.
   */
  default float answer() {
    return 0;
  }

  @Override
  void close();

  /** Sends one request at a time, from one thread, with resources that are made once and kept. */
  interface Caller extends AutoCloseable {

    /** Sends a request, waits for the answer and checks it. */
    void call();

    @Override
    void close();
  }

  /** One request at a time, sent from wherever the last answer came to. */
  interface Sender extends AutoCloseable {

    /** Sends a request and returns before its answer. */
    void send();

    /** Only after the last answer. */
    @Override
    void close();
  }

  /** Is told of the answers to a sender's requests; it throws nothing. */
  interface Answers {

    /** The answer is there, and right. The next request may be sent from here. */
    void answered();

    void failed(Throwable failure);
  }
}
