package io.nereid.tensorrt;

/**
 * CUDA graphs of one instance, or of several together.
 *
 * @param graphs how many there are
 * @param hits batches that were executed by launching one
 * @param misses batches that were executed without
 */
public record GraphStatistics(int graphs, long hits, long misses) {

  GraphStatistics plus(GraphStatistics other) {
    return new GraphStatistics(graphs + other.graphs, hits + other.hits, misses + other.misses);
  }
}
