package io.nereid.server.shared;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the answers of one protocol, and how long they took: every answer, whether a model saw its
 * request or not. From any thread.
 */
public final class AnswerCounts {

  /**
   * The answers that are counted together. Clients must not make up its parts: each one is kept
   * until the server ends.
   *
   * @param method as the protocol calls it
   * @param route the pattern that the path matches; empty for gRPC, whose method says it
   * @param status the code as the protocol writes it
   */
  public record Kind(String method, String route, String status) {}

  /** The answers of one kind. */
  public static final class Count {
    private final LongAdder answers = new LongAdder();
    private final LongAdder tookNs = new LongAdder();

    /** Counts an answer that came so long after its request began. */
    public void add(long ns) {
      answers.increment();
      tookNs.add(ns);
    }

    /** The number of answers. */
    public long answers() {
      return answers.sum();
    }

    /** The time that they took in all. */
    public long tookNs() {
      return tookNs.sum();
    }
  }

  private final ConcurrentHashMap<Kind, Count> counts = new ConcurrentHashMap<>();

  /** The count of a kind, for those who add to it. */
  public Count of(Kind kind) {
    return counts.computeIfAbsent(kind, key -> new Count());
  }

  /** All counts, of which others may be adding to. */
  public Map<Kind, Count> all() {
    return counts;
  }
}
