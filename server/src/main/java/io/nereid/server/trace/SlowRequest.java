package io.nereid.server.trace;

import java.util.List;

/**
 * A request that took long, with the times of its phases.
 *
 * @param id its number among the kept requests
 * @param requestId the client's own id; empty: it gave none
 * @param protocol its protocol, in capitals
 * @param version the model's version; 0: unknown
 * @param startMs when it began to arrive, since 1970
 * @param durationNs until its reply was sent
 * @param error the error that its client got; null: none
 * @param batchSize rows of its execution; 0: it had none, or several
 * @param mates the ids of other kept requests in its batch
 * @param phases one after the other
 */
public record SlowRequest(
    long id,
    String requestId,
    String protocol,
    String model,
    long version,
    long startMs,
    long durationNs,
    String error,
    int batchSize,
    List<Long> mates,
    boolean inline,
    boolean cacheHit,
    List<Phase> phases) {

  /**
   * A part of the request's time.
   *
   * @param startNs since the request's start
   */
  public record Phase(String name, long startNs, long durationNs) {}

  SlowRequest with(List<Long> others) {
    return new SlowRequest(
        id,
        requestId,
        protocol,
        model,
        version,
        startMs,
        durationNs,
        error,
        batchSize,
        others,
        inline,
        cacheHit,
        phases);
  }
}
