package io.nereid.model;

import io.nereid.internal.Checks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rules by which waiting requests are ordered and put together into batches. Build one with
 * {@link #builder()}.
 *
 * @param preferredBatchSizes sizes of batches that run as soon as they can be formed
 * @param maxQueueDelay how long a request may wait for others to join its batch
 * @param preserveOrdering whether responses leave in the order in which requests came
 * @param priorityLevels how many priorities there are; 0: none, else 1 is the most urgent
 * @param defaultPriorityLevel priority of requests that set none or one out of range
 * @param defaultQueuePolicy the policy of every level that has none of its own
 * @param levelQueuePolicies policies by priority level, from 1
 */
public record DynamicBatching(
    List<Integer> preferredBatchSizes,
    Duration maxQueueDelay,
    boolean preserveOrdering,
    int priorityLevels,
    int defaultPriorityLevel,
    QueuePolicy defaultQueuePolicy,
    Map<Integer, QueuePolicy> levelQueuePolicies) {

  /** Checks the values and copies the collections. */
  public DynamicBatching {
    preferredBatchSizes = List.copyOf(Checks.notNull(preferredBatchSizes, "preferredBatchSizes"));
    Checks.notNegative(maxQueueDelay, "maxQueueDelay");
    Checks.notNegative(priorityLevels, "priorityLevels");
    Checks.notNull(defaultQueuePolicy, "defaultQueuePolicy");
    levelQueuePolicies = Map.copyOf(Checks.notNull(levelQueuePolicies, "levelQueuePolicies"));
    for (int size : preferredBatchSizes) {
      Checks.positive(size, "preferredBatchSizes");
    }
    if (priorityLevels > 0 && (defaultPriorityLevel < 1 || defaultPriorityLevel > priorityLevels)) {
      throw new IllegalArgumentException(
          "defaultPriorityLevel must be from 1 to "
              + priorityLevels
              + ", got "
              + defaultPriorityLevel);
    }
    for (int level : levelQueuePolicies.keySet()) {
      if (level < 1 || level > priorityLevels) {
        throw new IllegalArgumentException(
            "levelQueuePolicies names level " + level + ", there are " + priorityLevels);
      }
    }
  }

  /** Batches of whatever waits when an instance becomes free, without delay. */
  public static DynamicBatching create() {
    return builder().build();
  }

  /** A builder with no preferred sizes, no delay and no priorities. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link DynamicBatching}. */
  public static final class Builder {
    private final List<Integer> preferredBatchSizes = new ArrayList<>();
    private final Map<Integer, QueuePolicy> levelQueuePolicies = new TreeMap<>();
    private Duration maxQueueDelay = Duration.ZERO;
    private boolean preserveOrdering;
    private int priorityLevels;
    private int defaultPriorityLevel;
    private QueuePolicy defaultQueuePolicy = QueuePolicy.DEFAULT;

    private Builder() {}

    /** Adds sizes that run as soon as they can be formed. */
    public Builder preferredBatchSizes(int... sizes) {
      for (int size : Checks.notNull(sizes, "sizes")) {
        preferredBatchSizes.add(size);
      }
      return this;
    }

    /** Limits the time that a request may wait for others to join its batch. */
    public Builder maxQueueDelay(Duration delay) {
      maxQueueDelay = Checks.notNull(delay, "delay");
      return this;
    }

    /** True if responses leave in the order in which requests came. */
    public Builder preserveOrdering(boolean preserve) {
      preserveOrdering = preserve;
      return this;
    }

    /** Gives requests priorities from 1, the most urgent, to {@code levels}. */
    public Builder priorityLevels(int levels, int defaultLevel) {
      priorityLevels = levels;
      defaultPriorityLevel = defaultLevel;
      return this;
    }

    /** The policy of every level that has none of its own. */
    public Builder queuePolicy(QueuePolicy policy) {
      defaultQueuePolicy = Checks.notNull(policy, "policy");
      return this;
    }

    /** The policy of one priority level. */
    public Builder queuePolicy(int level, QueuePolicy policy) {
      levelQueuePolicies.put(level, Checks.notNull(policy, "policy"));
      return this;
    }

    /** The finished value. */
    public DynamicBatching build() {
      return new DynamicBatching(
          preferredBatchSizes,
          maxQueueDelay,
          preserveOrdering,
          priorityLevels,
          defaultPriorityLevel,
          defaultQueuePolicy,
          levelQueuePolicies);
    }
  }
}
