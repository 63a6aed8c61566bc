package io.nereid.internal.model;

import io.nereid.internal.ffi.InstanceRecord;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.HostPolicy;
import io.nereid.model.InstanceGroup;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ResourceCount;
import java.util.List;
import java.util.OptionalInt;

/**
 * Makes the records that tell the core which resources instances hold while they execute, and where
 * their threads run.
 */
final class InstanceOptions {

  private InstanceOptions() {}

  /**
   * Returns one record for each placement; none if all have the defaults.
   *
   * @param priority replaces the groups' priorities; 0: they keep them
   */
  static List<InstanceRecord> of(
      List<InstancePlacement> placements, NativeRuntime.Settings settings, int priority) {
    List<InstanceRecord> instances =
        placements.stream().map(placement -> of(placement, settings, priority)).toList();
    boolean special =
        priority != 0
            || instances.stream()
                .anyMatch(each ->
                    !each.resources().isEmpty() || !each.hostPolicy().equals(HostPolicy.NONE));
    return special ? instances : List.of();
  }

  private static InstanceRecord of(
      InstancePlacement placement, NativeRuntime.Settings settings, int priority) {
    InstanceGroup.RateLimiter limiter = placement.group().rateLimiter();
    List<ResourceCount> resources =
        settings.rateLimit()
            ? limiter.resources().stream().map(each -> resource(each, placement)).toList()
            : List.of();
    HostPolicy policy = settings.hostPolicies().getOrDefault(policy(placement), HostPolicy.NONE);
    return new InstanceRecord(resources, priority == 0 ? limiter.priority() : priority, policy);
  }

  /** The processor counts as device 0, as it does in Triton. */
  private static ResourceCount resource(
      InstanceGroup.Resource resource, InstancePlacement placement) {
    OptionalInt device =
        resource.global() ? OptionalInt.empty() : OptionalInt.of(placement.device().orElse(0));
    return new ResourceCount(resource.name(), resource.count(), device);
  }

  /** The name of an instance's host policy; Triton's default name if the group gives none. */
  static String policy(InstancePlacement placement) {
    InstanceGroup group = placement.group();
    if (!group.hostPolicy().isEmpty()) {
      return group.hostPolicy();
    }
    if (placement.device().isPresent()) {
      return "gpu_" + placement.device().getAsInt();
    }
    return group.kind() == InstanceGroup.Kind.MODEL ? "model" : "cpu";
  }
}
