package io.nereid.perf;

import io.nereid.client.ModelUsage;
import java.util.List;

/**
 * The work of a model, by the statistics extension; all times are sums.
 *
 * @param successCount requests that succeeded
 * @param failCount requests that failed
 * @param inferenceCount rows that were executed
 * @param executionCount batches that were executed
 * @param successNs time in the server's core
 * @param queueNs of it, waiting in the queue
 * @param inputNs of it, gathering inputs
 * @param inferNs of it, running the model
 * @param outputNs of it, handing out outputs
 * @param cacheHitCount requests that the response cache answered
 */
record ServerStatistics(
    long successCount,
    long failCount,
    long inferenceCount,
    long executionCount,
    long successNs,
    long queueNs,
    long inputNs,
    long inferNs,
    long outputNs,
    long cacheHitCount) {

  static final ServerStatistics ZERO = new ServerStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Sums the statistics of a model's versions. */
  static ServerStatistics sum(List<ModelUsage> versions) {
    return versions.stream().map(ServerStatistics::of).reduce(ZERO, (a, b) -> a.plus(b, 1));
  }

  private static ServerStatistics of(ModelUsage model) {
    return new ServerStatistics(
        model.success().count(),
        model.fail().count(),
        model.inferenceCount(),
        model.executionCount(),
        model.success().totalNs(),
        model.queue().totalNs(),
        model.computeInput().totalNs(),
        model.computeInfer().totalNs(),
        model.computeOutput().totalNs(),
        model.cacheHit().count());
  }

  ServerStatistics minus(ServerStatistics other) {
    return plus(other, -1);
  }

  private ServerStatistics plus(ServerStatistics other, int sign) {
    return new ServerStatistics(
        successCount + sign * other.successCount,
        failCount + sign * other.failCount,
        inferenceCount + sign * other.inferenceCount,
        executionCount + sign * other.executionCount,
        successNs + sign * other.successNs,
        queueNs + sign * other.queueNs,
        inputNs + sign * other.inputNs,
        inferNs + sign * other.inferNs,
        outputNs + sign * other.outputNs,
        cacheHitCount + sign * other.cacheHitCount);
  }

  /** Converts a sum to microseconds per request. */
  double perRequestUs(long sumNs) {
    return successCount <= 0 ? 0 : sumNs / 1e3 / successCount;
  }

  /** Rows in an execution, on average. */
  double batchSize() {
    return executionCount <= 0 ? 0 : (double) inferenceCount / executionCount;
  }
}
