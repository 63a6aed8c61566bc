package io.nereid.tensorrt;

import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.global.cudart;

/**
 * The CUDA graphs of one instance, one for each profile and shape, captured after the first batch
 * of that shape. Each has its own context: a graph is valid only while the context from which it
 * was captured does not change. One thread at a time.
 */
final class GraphCache implements AutoCloseable {

  /** The number of a profile, and shapes of the engine's inputs. */
  record Key(int profile, long[][] shapes) {

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && key.profile == profile
          && Arrays.deepEquals(key.shapes, shapes);
    }

    @Override
    public int hashCode() {
      return 31 * profile + Arrays.deepHashCode(shapes);
    }

    @Override
    public String toString() {
      return "profile " + profile + ", shapes " + Arrays.deepToString(shapes);
    }
  }

  /** A graph that can be launched, with its context and output shapes. */
  record Graph(CUgraphExec_st executable, BoundContext context, long[][] outputShapes)
      implements AutoCloseable {

    void launch(CudaStream stream) {
      CudaRuntime.check(cudart.cudaGraphLaunch(executable, stream.handle()), "cudaGraphLaunch");
    }

    @Override
    public void close() {
      cudart.cudaGraphExecDestroy(executable);
      context.close();
    }
  }

  private final String instance;
  private final CudaStream stream;
  private final Bindings bindings;
  private final IntFunction<BoundContext> contexts; // makes a context for a profile
  private final int limit;

  /** The reason why no shape has a graph; empty: graphs are possible. */
  private final Optional<String> obstacle;

  /** The graphs by key; empty: the shape can have none, which was logged. */
  private final Map<Key, Optional<Graph>> graphs = new HashMap<>();

  private int count;
  private boolean full;
  private long version;

  GraphCache(
      String instance,
      CudaStream stream,
      Bindings bindings,
      IntFunction<BoundContext> contexts,
      int limit,
      Optional<String> obstacle) {
    this.instance = instance;
    this.stream = stream;
    this.bindings = bindings;
    this.contexts = contexts;
    this.limit = limit;
    this.obstacle = obstacle;
    version = bindings.version();
  }

  int count() {
    return count;
  }

  /** The graph for a key; null: there is none. */
  Graph find(Key key) {
    if (obstacle.isPresent()) {
      return null;
    }
    if (version != bindings.version()) {
      close(); // the graphs would access freed memory
      version = bindings.version();
    }
    return graphs.getOrDefault(key, Optional.empty()).orElse(null);
  }

  /**
   * Captures a graph for a key that was just executed, unless there can be none. The execution that
   * must precede a capture repeats the last one, whose inputs are still in their memory.
   */
  void captureIfNew(Key key) {
    if (obstacle.isPresent() || graphs.containsKey(key)) {
      return;
    }
    if (graphs.size() >= limit) {
      tellFull(key);
      return;
    }
    long before = bindings.version();
    try {
      graphs.put(key, Optional.of(capture(key)));
      count++;
      TensorRtLog.LOGGER.log(Level.DEBUG, "{0}: captured a CUDA graph for {1}", instance, key);
    } catch (RuntimeException e) { // the batch itself has succeeded
      none(key, String.valueOf(e.getMessage()));
    }
    if (before != bindings.version()) {
      version = before; // so that the next find drops the captured graph
    }
  }

  /**
   * Logs once that the limit is reached: later shapes, which may be unlimited, are not remembered.
   */
  private void tellFull(Key key) {
    if (!full) {
      full = true;
      TensorRtLog.LOGGER.log(
          Level.INFO,
          "{0}: no CUDA graph for {1}, nor for other shapes that are new: the instance has had {2},"
              + " its graph_limit",
          instance,
          key,
          limit);
    }
  }

  private void none(Key key, String reason) {
    graphs.put(key, Optional.empty());
    TensorRtLog.LOGGER.log(Level.INFO, "{0}: no CUDA graph for {1}: {2}", instance, key, reason);
  }

  private Graph capture(Key key) {
    try (Undo undo = new Undo()) {
      BoundContext context = undo.add(contexts.apply(key.profile()));
      long[][] outputShapes = context.prepare(key.shapes());
      // The first execution with new shapes does additional work, and must not be captured.
      context.enqueue();
      stream.finish();
      Graph graph = new Graph(capture(context), context, outputShapes);
      undo.forget();
      return graph;
    }
  }

  private CUgraphExec_st capture(BoundContext context) {
    CudaRuntime.check(
        cudart.cudaStreamBeginCapture(stream.handle(), cudart.cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
    CUgraph_st graph = new CUgraph_st();
    try {
      int ended;
      try {
        context.enqueue();
      } finally { // also after a failure, to end the stream's capture
        ended = cudart.cudaStreamEndCapture(stream.handle(), graph);
      }
      CudaRuntime.check(ended, "cudaStreamEndCapture");
      CUgraphExec_st executable = new CUgraphExec_st();
      CudaRuntime.check(cudart.cudaGraphInstantiate(executable, graph, 0), "cudaGraphInstantiate");
      return executable;
    } finally {
      if (!graph.isNull()) {
        cudart.cudaGraphDestroy(graph);
      }
      cudart.cudaGetLastError();
    }
  }

  /** Frees the graphs; no execution may be under way. */
  @Override
  public void close() {
    List<Optional<Graph>> all = List.copyOf(graphs.values());
    graphs.clear();
    count = 0;
    full = false;
    all.forEach(graph -> graph.ifPresent(Graph::close));
  }
}
