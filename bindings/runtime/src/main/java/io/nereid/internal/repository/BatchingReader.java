package io.nereid.internal.repository;

import io.nereid.model.DynamicBatching;
import io.nereid.model.QueuePolicy;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelQueuePolicy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/** Reads {@code dynamic_batching}. */
final class BatchingReader {

  /** The core's limit. */
  private static final int MAX_PRIORITY_LEVELS = 1024;

  private final ConfigNode node;
  private final ModelDynamicBatching config;

  private BatchingReader(ConfigNode node) {
    this.node = node;
    config = node.as(ModelDynamicBatching.class);
  }

  static DynamicBatching read(ConfigNode node, int maxBatchSize) {
    return new BatchingReader(node).read(maxBatchSize);
  }

  private DynamicBatching read(int maxBatchSize) {
    DynamicBatching.Builder batching =
        DynamicBatching.builder()
            .maxQueueDelay(micros(config.getMaxQueueDelayMicroseconds()))
            .preserveOrdering(config.getPreserveOrdering())
            .queuePolicy(policy(config.getDefaultQueuePolicy()));
    readPreferredSizes(batching, maxBatchSize);
    readPriorities(batching);
    return batching.build();
  }

  private void readPreferredSizes(DynamicBatching.Builder batching, int maxBatchSize) {
    for (int i = 0; i < config.getPreferredBatchSizeCount(); i++) {
      int size = config.getPreferredBatchSize(i);
      if (size < 1 || size > maxBatchSize) {
        throw node.invalid(
            ModelDynamicBatching.PREFERRED_BATCH_SIZE_FIELD_NUMBER,
            i,
            "expected preferred_batch_size from 1 to max_batch_size, which is "
                + maxBatchSize
                + ", got "
                + size);
      }
      batching.preferredBatchSizes(size);
    }
  }

  private void readPriorities(DynamicBatching.Builder batching) {
    long levels = config.getPriorityLevels();
    if (levels < 0 || levels > MAX_PRIORITY_LEVELS) {
      throw node.invalid(
          ModelDynamicBatching.PRIORITY_LEVELS_FIELD_NUMBER,
          "expected priority_levels from 0 to "
              + MAX_PRIORITY_LEVELS
              + ", got "
              + Long.toUnsignedString(levels));
    }
    long standard = config.getDefaultPriorityLevel();
    if (levels > 0 && (standard < 1 || standard > levels)) {
      throw node.invalid(
          ModelDynamicBatching.DEFAULT_PRIORITY_LEVEL_FIELD_NUMBER,
          "expected default_priority_level from 1 to priority_levels, which is "
              + levels
              + ", got "
              + Long.toUnsignedString(standard));
    }
    if (levels > 0) {
      batching.priorityLevels((int) levels, (int) standard);
    }
    for (Map.Entry<Long, ModelQueuePolicy> entry : config.getPriorityQueuePolicyMap().entrySet()) {
      long level = entry.getKey();
      if (level < 1 || level > levels) {
        throw node.invalid(
            ModelDynamicBatching.PRIORITY_QUEUE_POLICY_FIELD_NUMBER,
            "expected priority_queue_policy for levels from 1 to priority_levels, which is "
                + levels
                + ", got "
                + Long.toUnsignedString(level));
      }
      batching.queuePolicy((int) level, policy(entry.getValue()));
    }
  }

  private QueuePolicy policy(ModelQueuePolicy policy) {
    QueuePolicy.TimeoutAction action =
        switch (policy.getTimeoutAction()) {
          case REJECT -> QueuePolicy.TimeoutAction.REJECT;
          case DELAY -> QueuePolicy.TimeoutAction.DELAY;
          case UNRECOGNIZED -> throw node.invalid("expected timeout_action REJECT or DELAY");
        };
    long size = Integer.toUnsignedLong(policy.getMaxQueueSize());
    return new QueuePolicy(
        action,
        micros(policy.getDefaultTimeoutMicroseconds()),
        policy.getAllowTimeoutOverride(),
        (int) Math.min(size, Integer.MAX_VALUE));
  }

  /** Of an unsigned count; the largest ones are cut at 292 000 years. */
  private static Duration micros(long micros) {
    return Duration.of(micros < 0 ? Long.MAX_VALUE : micros, ChronoUnit.MICROS);
  }
}
