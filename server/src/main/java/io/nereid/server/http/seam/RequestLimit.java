package io.nereid.server.http.seam;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.concurrency.limits.LimitAlgorithm;
import java.util.Optional;

/**
 * Learns from Helidon, through its interface for limits, when a request has ended: the reply is
 * written and the body read. It limits nothing. There is one for each connection.
 */
final class RequestLimit implements Limit, LimitAlgorithm.Token {

  private static final String NAME = "nereid";

  private final Runnable ended;
  private final Outcome accepted = Outcome.immediateAcceptance(NAME, NAME, this);

  /** {@code ended} runs when a request has ended. */
  RequestLimit(Runnable ended) {
    this.ended = ended;
  }

  @Override
  public Outcome tryAcquireOutcome(boolean wait) {
    return accepted;
  }

  @Override
  public void success() {
    ended.run();
  }

  @Override
  public void dropped() {
    // The connection ends together with the request.
  }

  @Override
  public void ignore() {
    ended.run();
  }

  @Override
  @SuppressWarnings("removal")
  public Optional<LimitAlgorithm.Token> tryAcquire() {
    return Optional.of(this);
  }

  @Override
  @SuppressWarnings("removal")
  public Optional<LimitAlgorithm.Token> tryAcquire(boolean wait) {
    return Optional.of(this);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String type() {
    return NAME;
  }

  @Override
  public Limit copy() {
    return this;
  }
}
