package io.nereid.server.trace;

import java.util.List;

/**
 * A request that took long, and where its time went.
 *
 * @param id which one it is of those that were kept
 * @param requestId the client's own id; empty: it gave none
 * @param protocol what it came over, in capitals
 * @param version the model's version; 0: it is not known
 * @param startMs when it began to arrive, since 1970
 * @param durationNs until its reply was sent
 * @param error what its client was told; null: it was answered
 * @param batchSize rows of its execution; 0: it did not come to one, or not to one alone
 * @param mates the ids of others that were kept and were in its batch
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
   * A part of the time.
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
