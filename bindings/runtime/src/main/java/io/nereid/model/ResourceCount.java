package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.OptionalInt;

/**
 * So much of a resource that executions hold.
 *
 * @param name its name
 * @param count how much
 * @param device the number of the device that it belongs to. Empty: one for all devices, and where
 *     a total is set, each device
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
