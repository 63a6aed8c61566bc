package io.nereid.tensorrt;

/**
 * Counts of CUDA graphs, of one instance or several together.
 *
 * @param graphs the number of graphs
 * @param hits batches that were executed by launching a graph
 * @param misses batches that were executed without a graph
 */
public record GraphStatistics(int graphs, long hits, long misses) {

  GraphStatistics plus(GraphStatistics other) {
    return new GraphStatistics(graphs + other.graphs, hits + other.hits, misses + other.misses);
  }
}
