package io.nereid.statistics;

import java.util.Optional;

/**
 * The resource that an instance of a model waits for now.
 *
 * @param holds whether it holds the resources of an execution
 * @param awaited the resource that it waits for; empty: it does not wait. If enough is free, others
 *     have earlier turns
 * @param needed the amount that it needs
 * @param waits how often it had to wait since the model was loaded
 */
public record InstanceStatistics(
    boolean holds, Optional<ResourceStatistics> awaited, long needed, long waits) {

  /** The state of the instance in words, such as "waits for R1, 2 of 4 free, 3 needed". */
  public String text() {
    return awaited
        .map(resource ->
            "waits for %s, %s of %s free, %s needed"
                .formatted(resource.name(), resource.free(), resource.total(), needed))
        .orElse(holds ? "executes" : "idle");
  }
}
