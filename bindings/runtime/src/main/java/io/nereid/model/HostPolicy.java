package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;
import java.util.OptionalInt;

/**
 * The cores and the memory node on which the threads of instances run. A core or node that does not
 * exist fails the load.
 *
 * @param numaNode the node whose memory they prefer; empty: any
 * @param cores the processors that they run on; empty: any
 */
public record HostPolicy(OptionalInt numaNode, List<Integer> cores) {

  /** The policy that applies when nothing is set. */
  public static final HostPolicy NONE = new HostPolicy(OptionalInt.empty(), List.of());

  /** Checks the values and copies the list. */
  public HostPolicy {
    Checks.notNull(numaNode, "numaNode").ifPresent(node -> Checks.notNegative(node, "numaNode"));
    cores = List.copyOf(Checks.notNull(cores, "cores"));
    for (int core : cores) {
      Checks.notNegative(core, "core");
    }
  }
}
