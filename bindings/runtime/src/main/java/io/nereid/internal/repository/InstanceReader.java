package io.nereid.internal.repository;

import io.nereid.model.InstanceGroup;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelInstanceGroup;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/** Reads {@code instance_group}. */
final class InstanceReader {

  /** The core's limit. */
  private static final int MAX_INSTANCES = 1024;

  private final ConfigNode root;
  private final String model;
  private final boolean onProcessor;

  /**
   * A reader for one model.
   *
   * @param onProcessor whether its backend runs on the processor alone
   */
  InstanceReader(ConfigNode root, String model, boolean onProcessor) {
    this.root = root;
    this.model = model;
    this.onProcessor = onProcessor;
  }

  /** What a group without a name is called. */
  static String defaultName(String model, int index) {
    return model + "_" + index;
  }

  /** What is made where nothing else is configured. */
  static InstanceGroup defaultGroup(String model, boolean onProcessor) {
    InstanceGroup.Kind kind = onProcessor ? InstanceGroup.Kind.CPU : InstanceGroup.Kind.AUTO;
    return new InstanceGroup(defaultName(model, 0), kind, 1, List.of(), List.of());
  }

  /** At least one group; a passive instance gets no requests, so there is no use in having it. */
  List<InstanceGroup> read() {
    List<ConfigNode> nodes = root.children(ModelConfig.INSTANCE_GROUP_FIELD_NUMBER);
    if (nodes.isEmpty()) {
      return List.of(defaultGroup(model, onProcessor));
    }
    List<InstanceGroup> groups = new ArrayList<>();
    long count = 0;
    for (int i = 0; i < nodes.size(); i++) {
      InstanceGroup group = group(nodes.get(i), i);
      if (!nodes.get(i).as(ModelInstanceGroup.class).getPassive()) {
        groups.add(group);
        count += (long) group.count() * Math.max(1, group.devices().size());
      }
    }
    if (count > MAX_INSTANCES || groups.isEmpty()) {
      throw root.invalid(
          ModelConfig.INSTANCE_GROUP_FIELD_NUMBER,
          "expected from 1 to "
              + MAX_INSTANCES
              + " instances that are not passive in all groups together, got "
              + count);
    }
    return groups;
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
        onProcessor ? List.of() : group.getProfileList());
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
}
