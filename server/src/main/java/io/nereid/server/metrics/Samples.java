package io.nereid.server.metrics;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.ToDoubleFunction;

/**
 * The same figures of several things, such as models: each family has a sample for each of them.
 *
 * @param text where they are written
 * @param figures the figures by the labels of their thing
 */
record Samples<F>(MetricsText text, Map<String, F> figures) {

  boolean isEmpty() {
    return figures.isEmpty();
  }

  /** Writes values that only grow. */
  void counter(String name, String help, ToDoubleFunction<F> value) {
    text.counter(name, help);
    each(value);
  }

  /** Writes values that rise and fall. */
  void gauge(String name, String help, ToDoubleFunction<F> value) {
    text.gauge(name, help);
    each(value);
  }

  private void each(ToDoubleFunction<F> value) {
    figures.forEach((labels, some) -> text.sample(labels, value.applyAsDouble(some)));
  }

  /**
   * Writes a value for each thing and each of some labels, in a family that was begun.
   *
   * @param write gets the figures, and writes a value behind a label
   */
  void each(BiConsumer<F, BiConsumer<String, Number>> write) {
    figures.forEach((labels, some) ->
        write.accept(
            some,
            (label, value) -> text.sample(MetricsText.labels(labels, label), value.doubleValue())));
  }
}
