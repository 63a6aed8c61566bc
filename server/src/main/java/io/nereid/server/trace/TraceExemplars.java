package io.nereid.server.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The last traced request of each model for each range of time between powers of two, as example
 * for the readers of histograms. The trace thread adds, and scrapers read.
 */
public final class TraceExemplars {

  /**
   * One request that was answered and traced.
   *
   * @param traceId 32 lower-case hexadecimal digits
   * @param durationNs from submission to answer
   * @param endMs when it ended, since 1970
   */
  public record Exemplar(String traceId, long durationNs, long endMs) {}

  private record Key(String namespace, String model, long version) {}

  /**
   * The most versions with exemplars; those that are dropped come again with their next request.
   */
  private static final int MOST_MODELS = 1000;

  private final Map<Key, AtomicReferenceArray<Exemplar>> models = new ConcurrentHashMap<>();

  /** Adds a finished request, if its model has answered it. */
  void add(Trace trace, String traceId) {
    long durationNs = trace.requestEndNs - trace.requestStartNs;
    if (trace.error != null || trace.requestEndNs == 0 || durationNs <= 0) {
      return;
    }
    if (models.size() >= MOST_MODELS) {
      models.clear();
    }
    Key key = new Key(trace.namespace, trace.modelName, trace.modelVersion);
    models
        .computeIfAbsent(key, any -> new AtomicReferenceArray<>(Long.SIZE))
        .set(
            Long.SIZE - 1 - Long.numberOfLeadingZeros(durationNs),
            new Exemplar(
                traceId, durationNs, (trace.requestEndNs + trace.epochOffsetNs) / 1_000_000));
  }

  /** Returns the exemplars of a version of a model, the quickest first. */
  public List<Exemplar> of(String namespace, String model, long version) {
    AtomicReferenceArray<Exemplar> slots = models.get(new Key(namespace, model, version));
    List<Exemplar> known = new ArrayList<>();
    for (int i = 0; slots != null && i < slots.length(); i++) {
      Exemplar exemplar = slots.get(i);
      if (exemplar != null) {
        known.add(exemplar);
      }
    }
    return known;
  }
}
