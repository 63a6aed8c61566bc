package io.nereid.internal.config;

import io.nereid.model.DynamicBatching;
import io.nereid.model.InstanceGroup;
import io.nereid.model.QueuePolicy;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelInstanceGroup;
import io.nereid.proto.ModelQueuePolicy;
import io.nereid.proto.ModelRateLimiter;
import io.nereid.types.NereidException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** Reads how a model is executed: {@code instance_group} and {@code dynamic_batching}. */
final class SchedulingReader {

  /** The core's limit. */
  private static final int MAX_INSTANCES = 1024;

  /** The core's limit. */
  private static final int MAX_PRIORITY_LEVELS = 1024;

  private final ConfigNode root;
  private final String model;
  private final boolean onProcessor;
  private final boolean plugin;
  private final ConfigNode batching;
  private final ModelDynamicBatching config; // the fields of dynamic batching

  /**
   * A reader for one model.
   *
   * @param backend the backend that runs the model
   */
  SchedulingReader(ConfigNode root, String model, BackendNames.Found backend) {
    this.root = root;
    this.model = model;
    onProcessor = backend.onProcessor();
    plugin = backend.plugin();
    batching = root.child(ModelConfig.DYNAMIC_BATCHING_FIELD_NUMBER);
    config = batching.as(ModelDynamicBatching.class);
  }

  /** Returns the name of a group that the configuration gives none. */
  static String defaultName(String model, int index) {
    return model + "_" + index;
  }

  /** Returns the group that a model has if its configuration has none. */
  static InstanceGroup defaultGroup(String model, boolean onProcessor) {
    InstanceGroup.Kind kind = onProcessor ? InstanceGroup.Kind.CPU : InstanceGroup.Kind.AUTO;
    return new InstanceGroup(defaultName(model, 0), kind, 1, List.of(), List.of());
  }

  /**
   * {@code instance_group}: at least one group. A passive instance gets no requests, so that only
   * plug-ins have a use for it.
   */
  List<InstanceGroup> instances() {
    List<ConfigNode> nodes = root.children(ModelConfig.INSTANCE_GROUP_FIELD_NUMBER);
    if (nodes.isEmpty()) {
      return List.of(defaultGroup(model, onProcessor));
    }
    List<InstanceGroup> groups = new ArrayList<>();
    long count = 0;
    long passive = 0;
    for (int i = 0; i < nodes.size(); i++) {
      InstanceGroup group = group(nodes.get(i), i);
      long more = (long) group.count() * Math.max(1, group.devices().size());
      count += group.passive() ? 0 : more;
      passive += plugin && group.passive() ? more : 0;
      if (plugin || !group.passive()) {
        groups.add(group);
      }
    }
    if (count > MAX_INSTANCES || count == 0) {
      throw invalidInstances("from 1 to " + MAX_INSTANCES + " instances that are not", count);
    }
    if (passive > MAX_INSTANCES) {
      throw invalidInstances("at most " + MAX_INSTANCES + " instances that are", passive);
    }
    return groups;
  }

  private NereidException invalidInstances(String expected, long got) {
    return root.invalid(
        ModelConfig.INSTANCE_GROUP_FIELD_NUMBER,
        "expected " + expected + " passive in all groups together, got " + got);
  }

  private InstanceGroup group(ConfigNode node, int index) {
    ModelInstanceGroup group = node.as(ModelInstanceGroup.class);
    if (group.getCount() < 0) {
      throw node.invalid(
          ModelInstanceGroup.COUNT_FIELD_NUMBER,
          "expected a count of instances from 1 on, got " + group.getCount());
    }
    String name = group.getName().isEmpty() ? defaultName(model, index) : group.getName();
    InstanceGroup.Kind kind = kind(node, group);
    checkDevices(node, group);
    return new InstanceGroup(
        name,
        onProcessor ? InstanceGroup.Kind.CPU : kind,
        Math.max(1, group.getCount()),
        onProcessor ? List.of() : group.getGpusList(),
        onProcessor ? List.of() : group.getProfileList(),
        rateLimiter(node.child(ModelInstanceGroup.RATE_LIMITER_FIELD_NUMBER)),
        group.getHostPolicy(),
        group.getPassive(),
        plugin ? secondaryDevices(node, group) : List.of());
  }

  private static List<InstanceGroup.SecondaryDevice> secondaryDevices(
      ConfigNode node, ModelInstanceGroup group) {
    List<InstanceGroup.SecondaryDevice> devices = new ArrayList<>();
    for (ModelInstanceGroup.SecondaryDevice device : group.getSecondaryDevicesList()) {
      if (device.getKind() != ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind.KIND_NVDLA) {
        throw node.invalid(
            ModelInstanceGroup.SECONDARY_DEVICES_FIELD_NUMBER,
            devices.size(),
            "expected kind KIND_NVDLA, got " + device.getKindValue());
      }
      devices.add(
          new InstanceGroup.SecondaryDevice(
              InstanceGroup.SecondaryKind.NVDLA, device.getDeviceId()));
    }
    return devices;
  }

  private static InstanceGroup.RateLimiter rateLimiter(ConfigNode node) {
    ModelRateLimiter limiter = node.as(ModelRateLimiter.class);
    List<InstanceGroup.Resource> resources = new ArrayList<>();
    HashSet<String> seen = new HashSet<>();
    for (ConfigNode each : node.children(ModelRateLimiter.RESOURCES_FIELD_NUMBER)) {
      ModelRateLimiter.Resource resource = each.as(ModelRateLimiter.Resource.class);
      if (resource.getName().isEmpty() || !seen.add(resource.getName())) {
        throw each.invalid(
            ModelRateLimiter.Resource.NAME_FIELD_NUMBER,
            "expected the names of different resources, got '" + resource.getName() + "'");
      }
      int count = unsigned(each, ModelRateLimiter.Resource.COUNT_FIELD_NUMBER, resource.getCount());
      resources.add(new InstanceGroup.Resource(resource.getName(), resource.getGlobal(), count));
    }
    int priority = unsigned(node, ModelRateLimiter.PRIORITY_FIELD_NUMBER, limiter.getPriority());
    return new InstanceGroup.RateLimiter(resources, Math.max(1, priority));
  }

  /** Reads an unsigned number that must also fit a signed one. */
  private static int unsigned(ConfigNode node, int field, int number) {
    if (number < 0) {
      throw node.invalid(
          field,
          "expected a number from 0 to %s, got %s"
              .formatted(Integer.MAX_VALUE, Integer.toUnsignedLong(number)));
    }
    return number;
  }

  private static InstanceGroup.Kind kind(ConfigNode node, ModelInstanceGroup group) {
    return switch (group.getKind()) {
      case KIND_AUTO -> InstanceGroup.Kind.AUTO;
      case KIND_CPU -> InstanceGroup.Kind.CPU;
      case KIND_GPU -> InstanceGroup.Kind.GPU;
      case KIND_MODEL -> InstanceGroup.Kind.MODEL;
      case UNRECOGNIZED ->
          throw node.invalid(
              ModelInstanceGroup.KIND_FIELD_NUMBER,
              "expected kind KIND_AUTO, KIND_CPU, KIND_GPU or KIND_MODEL, got "
                  + group.getKindValue());
    };
  }

  private static void checkDevices(ConfigNode node, ModelInstanceGroup group) {
    int number = ModelInstanceGroup.GPUS_FIELD_NUMBER;
    if (group.getKind() == ModelInstanceGroup.Kind.KIND_CPU && group.getGpusCount() > 0) {
      throw node.invalid(number, "gpus are named, but the group's kind is KIND_CPU");
    }
    HashSet<Integer> seen = new HashSet<>();
    for (int i = 0; i < group.getGpusCount(); i++) {
      int device = group.getGpus(i);
      if (device < 0 || !seen.add(device)) {
        throw node.invalid(
            number,
            i,
            "expected the numbers of different GPUs, from 0 on, got " + group.getGpusList());
      }
    }
  }

  // ---- Batches ---------------------------------------------------------------------------------

  /** Reads {@code dynamic_batching}, which must be present. */
  DynamicBatching batching(int maxBatchSize) {
    DynamicBatching.Builder read =
        DynamicBatching.builder()
            .maxQueueDelay(micros(config.getMaxQueueDelayMicroseconds()))
            .preserveOrdering(config.getPreserveOrdering())
            .queuePolicy(policy(config.getDefaultQueuePolicy()));
    readPreferredSizes(read, maxBatchSize);
    readPriorities(read);
    return read.build();
  }

  private void readPreferredSizes(DynamicBatching.Builder read, int maxBatchSize) {
    for (int i = 0; i < config.getPreferredBatchSizeCount(); i++) {
      int size = config.getPreferredBatchSize(i);
      if (size < 1 || size > maxBatchSize) {
        throw batching.invalid(
            ModelDynamicBatching.PREFERRED_BATCH_SIZE_FIELD_NUMBER,
            i,
            "expected preferred_batch_size from 1 to max_batch_size, which is %s, got %s"
                .formatted(maxBatchSize, size));
      }
      read.preferredBatchSizes(size);
    }
  }

  private void readPriorities(DynamicBatching.Builder read) {
    long levels = config.getPriorityLevels();
    if (levels < 0 || levels > MAX_PRIORITY_LEVELS) {
      throw batching.invalid(
          ModelDynamicBatching.PRIORITY_LEVELS_FIELD_NUMBER,
          "expected priority_levels from 0 to %s, got %s"
              .formatted(MAX_PRIORITY_LEVELS, Long.toUnsignedString(levels)));
    }
    long standard = config.getDefaultPriorityLevel();
    if (levels > 0 && (standard < 1 || standard > levels)) {
      throw batching.invalid(
          ModelDynamicBatching.DEFAULT_PRIORITY_LEVEL_FIELD_NUMBER,
          "expected default_priority_level from 1 to priority_levels, which is %s, got %s"
              .formatted(levels, Long.toUnsignedString(standard)));
    }
    if (levels > 0) {
      read.priorityLevels((int) levels, (int) standard);
    }
    for (Map.Entry<Long, ModelQueuePolicy> entry : config.getPriorityQueuePolicyMap().entrySet()) {
      long level = entry.getKey();
      if (level < 1 || level > levels) {
        throw batching.invalid(
            ModelDynamicBatching.PRIORITY_QUEUE_POLICY_FIELD_NUMBER,
            "expected priority_queue_policy for levels from 1 to priority_levels, which is "
                + levels
                + ", got "
                + Long.toUnsignedString(level));
      }
      read.queuePolicy((int) level, policy(entry.getValue()));
    }
  }

  private QueuePolicy policy(ModelQueuePolicy policy) {
    QueuePolicy.TimeoutAction action =
        switch (policy.getTimeoutAction()) {
          case REJECT -> QueuePolicy.TimeoutAction.REJECT;
          case DELAY -> QueuePolicy.TimeoutAction.DELAY;
          case UNRECOGNIZED -> throw batching.invalid("expected timeout_action REJECT or DELAY");
        };
    long size = Integer.toUnsignedLong(policy.getMaxQueueSize());
    return new QueuePolicy(
        action,
        micros(policy.getDefaultTimeoutMicroseconds()),
        policy.getAllowTimeoutOverride(),
        (int) Math.min(size, Integer.MAX_VALUE));
  }

  /** The duration of an unsigned count; the largest are cut at 292 000 years. */
  static Duration micros(long micros) {
    return Duration.of(micros < 0 ? Long.MAX_VALUE : micros, ChronoUnit.MICROS);
  }
}
