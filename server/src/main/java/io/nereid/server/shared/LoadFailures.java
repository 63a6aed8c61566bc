package io.nereid.server.shared;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts loads of models that failed. The threads that load models call it; any thread may read.
 */
public final class LoadFailures implements LifecycleListener {

  /**
   * The most models that are counted by name, since clients can ask for loads of invented names.
   */
  private static final int MOST_MODELS = 10_000;

  /**
   * The kind of failures that are counted together.
   *
   * @param reason the code of the failure
   */
  public record Kind(String model, StatusCode reason) {}

  private final Map<Kind, LongAdder> counts = new ConcurrentHashMap<>();

  @Override
  public void onEvent(ModelEvent event) {
    if (event instanceof ModelEvent.Failed failed) {
      StatusCode reason =
          failed.cause() instanceof NereidException known ? known.code() : StatusCode.INTERNAL;
      String model = counts.size() < MOST_MODELS ? failed.model() : "";
      counts.computeIfAbsent(new Kind(model, reason), kind -> new LongAdder()).increment();
    }
  }

  /** All counters, to which other threads may be adding. */
  public Map<Kind, LongAdder> counts() {
    return counts;
  }
}
