package io.nereid.server.shared;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the answers of one protocol, and how long they took: every answer, with or without a
 * model. Any thread may call.
 */
public final class AnswerCounts {

  /**
   * The kind of answers that are counted together. Clients must not be able to invent its parts,
   * since each kind is kept until the server ends.
   *
   * @param method the protocol's name of the method
   * @param route the pattern that the path matches; empty for gRPC, whose method has it
   * @param status the code in the protocol's form
   */
  public record Kind(String method, String route, String status) {}

  /** The answers of one kind. */
  public static final class Count {
    private final LongAdder answers = new LongAdder();
    private final LongAdder tookNs = new LongAdder();

    /** Counts an answer, with the time since its request began. */
    public void add(long ns) {
      answers.increment();
      tookNs.add(ns);
    }

    /** The number of answers. */
    public long answers() {
      return answers.sum();
    }

    /** The time of all answers together. */
    public long tookNs() {
      return tookNs.sum();
    }
  }

  private final ConcurrentHashMap<Kind, Count> counts = new ConcurrentHashMap<>();

  /** The counter of a kind, for adding to it. */
  public Count of(Kind kind) {
    return counts.computeIfAbsent(kind, key -> new Count());
  }

  /** All counters, to which other threads may be adding. */
  public Map<Kind, Count> all() {
    return counts;
  }
}
