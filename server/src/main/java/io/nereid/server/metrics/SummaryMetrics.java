package io.nereid.server.metrics;

import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.ModelStatistics;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Triton's summaries: quantiles of latencies over the last minute. They are computed from the
 * core's histograms at each scrape, so a value is up to 1/16 too high.
 */
final class SummaryMetrics {

  private final List<Double> quantiles;

  /** The windows by family and labels; guarded by this. */
  private final Map<String, SlidingWindow> windows = new HashMap<>();

  private final Set<String> seen = new HashSet<>();

  SummaryMetrics(List<Double> quantiles) {
    this.quantiles = quantiles;
  }

  synchronized void write(List<ModelMetrics.Figures> models, MetricsText text) {
    seen.clear();
    Summaries all = new Summaries(models, text, System.nanoTime());
    all.stage("request", "from submission to answer", f -> f.totalHistogram(), f -> f.success());
    all.stage("queue", "of waiting", f -> f.queueHistogram(), f -> f.queue());
    all.stage(
        "compute_input",
        "for handing inputs over",
        f -> f.stages().orElseThrow().computeInput(),
        f -> f.computeInput());
    all.stage(
        "compute_infer",
        "in the backend",
        f -> f.stages().orElseThrow().computeInfer(),
        f -> f.computeInfer());
    all.stage(
        "compute_output",
        "for taking outputs back",
        f -> f.stages().orElseThrow().computeOutput(),
        f -> f.computeOutput());
    all.cache("hit", f -> f.stages().orElseThrow().cacheHit(), f -> f.cacheHit());
    all.cache("miss", f -> f.stages().orElseThrow().cacheMiss(), f -> f.cacheMiss());
    windows.keySet().retainAll(seen); // the others belong to models that have gone
  }

  /** One answer to a scraper. */
  private final class Summaries {
    private final List<ModelMetrics.Figures> models;
    private final MetricsText text;
    private final long nowNs;

    Summaries(List<ModelMetrics.Figures> models, MetricsText text, long nowNs) {
      this.models = models;
      this.text = text;
      this.nowNs = nowNs;
    }

    void stage(
        String what,
        String help,
        Function<ModelStatistics, Histogram> times,
        Function<ModelStatistics, DurationStatistic> total) {
      String family = "nv_inference_" + what + "_summary_us";
      family(family, "Time " + help + ", in microseconds", model -> true, times, total);
    }

    /** Writes the summaries of the cache, for models that use it. */
    void cache(
        String what,
        Function<ModelStatistics, Histogram> times,
        Function<ModelStatistics, DurationStatistic> total) {
      String family = "nv_cache_" + what + "_summary_per_model";
      String help = "Time of a " + what + " in the response cache, in microseconds";
      family(family, help, ModelMetrics.Figures::cached, times, total);
    }

    private void family(
        String family,
        String help,
        Predicate<ModelMetrics.Figures> wanted,
        Function<ModelStatistics, Histogram> times,
        Function<ModelStatistics, DurationStatistic> total) {
      text.summary(family, help);
      for (ModelMetrics.Figures model : models) {
        if (wanted.test(model)) {
          String series = family + model.labels();
          seen.add(series);
          SlidingWindow window = windows.computeIfAbsent(series, key -> new SlidingWindow());
          Histogram recent = window.look(times.apply(model.statistics()), nowNs);
          quantiles(model.labels(), recent);
          DurationStatistic all = total.apply(model.statistics());
          text.summarySample(model.labels(), all.count(), all.totalNs() / 1000);
        }
      }
    }

    private void quantiles(String labels, Histogram recent) {
      boolean empty = recent.count() == 0;
      for (double quantile : quantiles) {
        double us = empty ? Double.NaN : recent.percentileNs(quantile * 100) / 1000.0;
        String label = MetricsText.label("quantile", Double.toString(quantile));
        text.sample(MetricsText.labels(labels, label), us);
      }
    }
  }
}
