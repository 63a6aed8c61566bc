package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.OptionalInt;

/**
 * An amount of a resource that executions hold.
 *
 * @param name its name
 * @param count the amount
 * @param device the number of the device that it belongs to. Empty: one for all devices or, where a
 *     total is set, each device
 */
public record ResourceCount(String name, int count, OptionalInt device) {

  /** Checks the values. */
  public ResourceCount {
    if (Checks.notNull(name, "name").isEmpty()) {
      throw new IllegalArgumentException("name is empty");
    }
    Checks.notNegative(count, "count");
    Checks.notNull(device, "device").ifPresent(number -> Checks.notNegative(number, "device"));
  }
}
