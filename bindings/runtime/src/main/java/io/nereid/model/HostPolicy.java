package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;
import java.util.OptionalInt;

/**
 * Where the threads of instances run on the machine. A core or node that does not exist fails the
 * load.
 *
 * @param numaNode the node whose memory they prefer; empty: any
 * @param cores the processors that they run on; empty: any
 */
public record HostPolicy(OptionalInt numaNode, List<Integer> cores) {

  /** What applies where nothing is set. */
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
