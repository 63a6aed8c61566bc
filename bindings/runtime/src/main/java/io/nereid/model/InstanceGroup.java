package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * Instances of a model that are alike.
 *
 * @param name its name, for messages
 * @param kind where the instances run
 * @param count the number of instances; per device if {@code kind} is {@code GPU}
 * @param devices numbers of the GPUs; empty: all that the backend can use
 * @param profiles optimization profiles for the backend; empty: its own choice
 * @param rateLimiter the resources that each instance holds while it executes
 * @param hostPolicy the name of the policy for their threads; empty: {@code gpu_<number>}, {@code
 *     cpu} or {@code model}, by where they run
 * @param passive whether the instances get no requests; only plug-ins have such
 * @param secondaryDevices further devices of the instances, which plug-ins are told
 */
public record InstanceGroup(
    String name,
    Kind kind,
    int count,
    List<Integer> devices,
    List<String> profiles,
    RateLimiter rateLimiter,
    String hostPolicy,
    boolean passive,
    List<SecondaryDevice> secondaryDevices) {

  /** The place where instances run. */
  public enum Kind {
    /** The instances run on a GPU if the backend can use one, else on the processor. */
    AUTO,
    /** The instances run on the processor. */
    CPU,
    /** The instances run on GPUs. */
    GPU,
    /** The backend decides. */
    MODEL
  }

  /** The kinds of devices that can stand beside an instance's own. */
  public enum SecondaryKind {
    /** A deep-learning accelerator of NVIDIA's. */
    NVDLA
  }

  /**
   * A device that an instance uses besides its own.
   *
   * @param kind what it is
   * @param device its number
   */
  public record SecondaryDevice(SecondaryKind kind, long device) {

    /** Checks the values. */
    public SecondaryDevice {
      Checks.notNull(kind, "kind");
    }
  }

  /**
   * A resource that an execution holds.
   *
   * @param name its name
   * @param global whether all devices share the resource
   * @param count the amount that an execution holds
   */
  public record Resource(String name, boolean global, int count) {

    /** Checks the values. */
    public Resource {
      if (Checks.notNull(name, "name").isEmpty()) {
        throw new IllegalArgumentException("name is empty");
      }
      Checks.notNegative(count, "count");
    }
  }

  /**
   * The resources that executions of an instance wait for, if the runtime limits rates.
   *
   * @param resources those that an execution holds, all of them or none
   * @param priority 1 is the most urgent; an instance with 2 gets half as many turns
   */
  public record RateLimiter(List<Resource> resources, int priority) {

    /** The limit under which executions wait for nothing. */
    public static final RateLimiter NONE = new RateLimiter(List.of(), 1);

    /** Checks the values and copies the list. */
    public RateLimiter {
      resources = List.copyOf(Checks.notNull(resources, "resources"));
      Checks.positive(priority, "priority");
    }
  }

  /** A group whose instances get requests. */
  public InstanceGroup(
      String name,
      Kind kind,
      int count,
      List<Integer> devices,
      List<String> profiles,
      RateLimiter rateLimiter,
      String hostPolicy) {
    this(name, kind, count, devices, profiles, rateLimiter, hostPolicy, false, List.of());
  }

  /** A group without a rate limit and without a host policy. */
  public InstanceGroup(
      String name, Kind kind, int count, List<Integer> devices, List<String> profiles) {
    this(name, kind, count, devices, profiles, RateLimiter.NONE, "");
  }

  /** Checks the values and copies the lists. */
  public InstanceGroup {
    Checks.notNull(rateLimiter, "rateLimiter");
    Checks.notNull(hostPolicy, "hostPolicy");
    Checks.notNull(name, "name");
    Checks.notNull(kind, "kind");
    Checks.positive(count, "count");
    devices = List.copyOf(Checks.notNull(devices, "devices"));
    profiles = List.copyOf(Checks.notNull(profiles, "profiles"));
    secondaryDevices = List.copyOf(Checks.notNull(secondaryDevices, "secondaryDevices"));
    for (int device : devices) {
      Checks.notNegative(device, "device");
    }
  }

  /** Instances that run where the backend runs best. */
  public static InstanceGroup of(int count) {
    return new InstanceGroup("", Kind.AUTO, count, List.of(), List.of());
  }
}
