package io.nereid.server.metrics;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.tensorrt.GraphStatistics;
import io.nereid.tensorrt.TensorRtBackend;
import io.nereid.types.NereidException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/** CUDA graphs of the models that the backend {@code tensorrt} executes; nothing where none is. */
final class GraphMetrics {

  private GraphMetrics() {}

  static void write(Nereid nereid, MetricsText text) {
    Map<String, GraphStatistics> figures = new LinkedHashMap<>();
    for (Model model : nereid.models()) {
      try {
        if (model.state() == ModelState.READY
            && model.spec().backendName().equals(TensorRtBackend.NAME)) {
          figures.put(ModelMetrics.labels(model), figures(model));
        }
      } catch (NereidException | IllegalStateException e) {
        // It was unloaded meanwhile, and has no figures any more.
      }
    }
    if (figures.isEmpty()) {
      return;
    }
    text.gauge("nereid_cuda_graphs", "CUDA graphs that were captured");
    samples(text, figures, GraphStatistics::graphs);
    text.counter("nereid_cuda_graph_hits_total", "Batches that were executed by a CUDA graph");
    samples(text, figures, GraphStatistics::hits);
    text.counter("nereid_cuda_graph_misses_total", "Batches that were executed without one");
    samples(text, figures, GraphStatistics::misses);
  }

  private static GraphStatistics figures(Model model) {
    return TensorRtBackend.graphStatistics(model.name(), model.version());
  }

  private static void samples(
      MetricsText text,
      Map<String, GraphStatistics> figures,
      ToLongFunction<GraphStatistics> value) {
    figures.forEach((labels, statistics) -> text.sample(labels, value.applyAsLong(statistics)));
  }
}
