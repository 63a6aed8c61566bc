package io.nereid;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * Instances of a model that are alike.
 *
 * @param name its name, for messages
 * @param kind where the instances run
 * @param count how many there are, on each device where {@code kind} is {@code GPU}
 * @param devices numbers of the GPUs; empty: all that the backend can use
 * @param profiles optimization profiles that the backend is to use; empty: its own choice
 */
public record InstanceGroup(
    String name, Kind kind, int count, List<Integer> devices, List<String> profiles) {

  /** Where instances run. */
  public enum Kind {
    /** On a GPU where the backend can use one, else on the processor. */
    AUTO,
    /** On the processor. */
    CPU,
    /** On GPUs. */
    GPU,
    /** The backend decides. */
    MODEL
  }

  /** Checks the values and copies the lists. */
  public InstanceGroup {
    Checks.notNull(name, "name");
    Checks.notNull(kind, "kind");
    Checks.positive(count, "count");
    devices = List.copyOf(Checks.notNull(devices, "devices"));
    profiles = List.copyOf(Checks.notNull(profiles, "profiles"));
    for (int device : devices) {
      Checks.notNegative(device, "device");
    }
  }

  /** Instances that run where the backend runs best. */
  public static InstanceGroup of(int count) {
    return new InstanceGroup("", Kind.AUTO, count, List.of(), List.of());
  }
}
