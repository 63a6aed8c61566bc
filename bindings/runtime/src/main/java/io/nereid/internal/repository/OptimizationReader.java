package io.nereid.internal.repository;

import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelOptimizationPolicy;
import io.nereid.proto.ModelOptimizationPolicy.Cuda;
import java.util.List;

/**
 * Hands {@code optimization} to the backend as parameters, named as the fields are: what to make of
 * it is its business.
 */
final class OptimizationReader {

  private static final String PREFIX = "optimization.";

  private final ModelOptimizationPolicy config;
  private final ModelSpec.Builder spec;

  private OptimizationReader(ConfigNode node, ModelSpec.Builder spec) {
    this.spec = spec;
    config = node.as(ModelOptimizationPolicy.class);
  }

  /**
   * Reads what the backend has a use for.
   *
   * @param onProcessor whether it runs on the processor alone
   */
  static void read(ConfigNode node, ModelSpec.Builder spec, boolean onProcessor) {
    OptimizationReader reader = new OptimizationReader(node, spec);
    reader.readGraph();
    if (!onProcessor) {
      reader.readRest();
      reader.readCuda();
    }
  }

  private void readGraph() {
    int level = config.getGraph().getLevel();
    if (level != 0) {
      put("graph.level", level);
    }
  }

  private void readRest() {
    if (config.getPriorityValue() != 0) {
      put("priority", config.getPriority());
    }
    if (config.hasInputPinnedMemory()) {
      put("input_pinned_memory.enable", config.getInputPinnedMemory().getEnable());
    }
    if (config.hasOutputPinnedMemory()) {
      put("output_pinned_memory.enable", config.getOutputPinnedMemory().getEnable());
    }
    if (config.getGatherKernelBufferThreshold() != 0) {
      put(
          "gather_kernel_buffer_threshold",
          Integer.toUnsignedString(config.getGatherKernelBufferThreshold()));
    }
    if (config.getEagerBatching()) {
      put("eager_batching", true);
    }
    if (config.hasExecutionAccelerators()) {
      put("execution_accelerators", JsonConfigWriter.write(config.getExecutionAccelerators()));
    }
  }

  private void readCuda() {
    Cuda cuda = config.getCuda();
    if (cuda.getGraphs()) {
      put("cuda.graphs", true);
    }
    if (cuda.getBusyWaitEvents()) {
      put("cuda.busy_wait_events", true);
    }
    if (cuda.getOutputCopyStream()) {
      put("cuda.output_copy_stream", true);
    }
    if (cuda.getGraphSpecCount() > 0) {
      List<String> specs = cuda.getGraphSpecList().stream().map(JsonConfigWriter::write).toList();
      put("cuda.graph_spec", "[" + String.join(",", specs) + "]");
    }
  }

  private void put(String name, Object value) {
    spec.parameter(PREFIX + name, value.toString());
  }
}
