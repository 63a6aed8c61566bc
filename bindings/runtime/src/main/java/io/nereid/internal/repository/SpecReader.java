package io.nereid.internal.repository;

import io.nereid.DataType;
import io.nereid.ModelSpec;
import io.nereid.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelInstanceGroup;
import io.nereid.proto.ModelOutput;
import io.nereid.proto.ModelParameter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Turns a configuration into what its versions are loaded from. */
final class SpecReader {

  /** The core's limit. */
  private static final int MAX_INSTANCES = 1024;

  private static final int MAX_LABEL_BYTES = 16 << 20;

  private static final String MODEL_PATH = "model_path";
  private static final String GRAPH_LEVEL = "optimization.graph.level";

  /** Parameters with this prefix are Nereid's own. */
  private static final String OWN_PREFIX = "nereid.";

  private static final String INLINE = OWN_PREFIX + "inline";
  private static final String INLINE_BUDGET = OWN_PREFIX + "inline_budget_microseconds";

  /** Set by the runtime: a configuration must not name libraries to load into the process. */
  private static final Set<String> RESERVED =
      Set.of(MODEL_PATH, "onnxruntime_path", "shared_thread_count");

  /** Triton's parameter that names a library which forms the batches. */
  private static final String BATCH_STRATEGY = "TRITON_BATCH_STRATEGY_PATH";

  private final ConfigNode root;
  private final ModelConfig config;
  private final ModelFiles files;

  SpecReader(ConfigNode root, ModelFiles files) {
    this.root = root;
    this.files = files;
    config = root.as(ModelConfig.class);
  }

  ModelSpec read(long version) {
    Path directory = files.version(version);
    String backend = BackendNames.backend(root, directory);
    ModelSpec.Builder spec = ModelSpec.builder(files.name()).version(version).backend(backend);
    readSizes(spec);
    readTensors(spec);
    if (config.hasDynamicBatching()) {
      ConfigNode batching = root.child(ModelConfig.DYNAMIC_BATCHING_FIELD_NUMBER);
      spec.dynamicBatching(BatchingReader.read(batching, config.getMaxBatchSize()));
    }
    spec.responseCache(config.getResponseCache().getEnable());
    readParameters(spec);
    int graphLevel = config.getOptimization().getGraph().getLevel();
    if (graphLevel != 0) {
      spec.parameter(GRAPH_LEVEL, Integer.toString(graphLevel));
    }
    Path model = BackendNames.modelPath(root, backend, directory);
    spec.parameter(MODEL_PATH, model.toString());
    // Last, so that the configuration's own mistakes are told first.
    if (!model.equals(directory)) {
      ModelFiles.checkModelFile(model, files.name() + "/" + files.directory().relativize(model));
    }
    return spec.build();
  }

  private void readSizes(ModelSpec.Builder spec) {
    if (config.getMaxBatchSize() < 0) {
      throw root.invalid(
          ModelConfig.MAX_BATCH_SIZE_FIELD_NUMBER,
          "expected max_batch_size of 0 (no batch dimension) or more, got "
              + config.getMaxBatchSize());
    }
    spec.maxBatchSize(config.getMaxBatchSize());
    long count = 0;
    for (ConfigNode node : root.children(ModelConfig.INSTANCE_GROUP_FIELD_NUMBER)) {
      ModelInstanceGroup group = node.as(ModelInstanceGroup.class);
      if (group.getCount() < 0) {
        throw node.invalid(
            ModelInstanceGroup.COUNT_FIELD_NUMBER,
            "expected a count of instances from 1 on, got " + group.getCount());
      }
      // A passive instance gets no requests, so there is no use in having it.
      count += group.getPassive() ? 0 : Math.max(1, group.getCount());
    }
    if (count > MAX_INSTANCES || (count == 0 && config.getInstanceGroupCount() > 0)) {
      throw root.invalid(
          ModelConfig.INSTANCE_GROUP_FIELD_NUMBER,
          "expected from 1 to "
              + MAX_INSTANCES
              + " instances that are not passive in all groups together, got "
              + count);
    }
    spec.instanceCount(count == 0 ? 1 : (int) count);
  }

  // ---- Inputs and outputs ----------------------------------------------------------------------

  private void readTensors(ModelSpec.Builder spec) {
    if (config.getInputCount() == 0 || config.getOutputCount() == 0) {
      throw root.invalid(
          "expected at least one input and one output, got "
              + config.getInputCount()
              + " and "
              + config.getOutputCount());
    }
    for (ConfigNode node : root.children(ModelConfig.INPUT_FIELD_NUMBER)) {
      ModelInput input = node.as(ModelInput.class);
      checkDims(
          node,
          "input '" + input.getName() + "'",
          ModelInput.DIMS_FIELD_NUMBER,
          input.getDimsList());
      DataType type = dataType(node, ModelInput.DATA_TYPE_FIELD_NUMBER, input.getDataType());
      spec.input(new TensorSpec(input.getName(), type, input.getDimsList(), input.getOptional()));
    }
    for (ConfigNode node : root.children(ModelConfig.OUTPUT_FIELD_NUMBER)) {
      ModelOutput output = node.as(ModelOutput.class);
      checkDims(
          node,
          "output '" + output.getName() + "'",
          ModelOutput.DIMS_FIELD_NUMBER,
          output.getDimsList());
      DataType type = dataType(node, ModelOutput.DATA_TYPE_FIELD_NUMBER, output.getDataType());
      List<String> labels = labels(output.getLabelFilename());
      spec.output(
          new TensorSpec(
              output.getName(),
              type,
              output.getDimsList(),
              false,
              labels,
              java.util.Optional.empty()));
    }
  }

  private void checkDims(ConfigNode node, String what, int number, List<Long> dims) {
    int most = TensorSpec.MAX_RANK - (config.getMaxBatchSize() > 0 ? 1 : 0);
    if (dims.isEmpty() || dims.size() > most) {
      throw node.invalid(
          number,
          "expected dims of "
              + what
              + " with 1 to "
              + most
              + " sizes"
              + (config.getMaxBatchSize() > 0 ? ", without the batch dimension" : "")
              + ", got "
              + (dims.isEmpty() ? "none" : dims.size()));
    }
    for (int i = 0; i < dims.size(); i++) {
      if (dims.get(i) < 1 && dims.get(i) != -1) {
        throw node.invalid(
            number,
            i,
            "expected dims of " + what + " from 1 on, or -1 for any size, got " + dims.get(i));
      }
    }
  }

  private static DataType dataType(
      ConfigNode node, int number, io.nereid.proto.DataType configured) {
    return switch (configured) {
      case TYPE_BOOL -> DataType.BOOL;
      case TYPE_UINT8 -> DataType.UINT8;
      case TYPE_UINT16 -> DataType.UINT16;
      case TYPE_UINT32 -> DataType.UINT32;
      case TYPE_UINT64 -> DataType.UINT64;
      case TYPE_INT8 -> DataType.INT8;
      case TYPE_INT16 -> DataType.INT16;
      case TYPE_INT32 -> DataType.INT32;
      case TYPE_INT64 -> DataType.INT64;
      case TYPE_FP16 -> DataType.FP16;
      case TYPE_FP32 -> DataType.FP32;
      case TYPE_FP64 -> DataType.FP64;
      case TYPE_STRING -> DataType.BYTES;
      case TYPE_BF16 -> DataType.BF16;
      case TYPE_INVALID, UNRECOGNIZED ->
          throw node.invalid(number, "expected a data_type, such as TYPE_FP32, got none");
    };
  }

  private List<String> labels(String filename) {
    if (filename.isEmpty()) {
      return List.of();
    }
    Path file = ModelFiles.inside(files.directory(), filename, "label_filename");
    String shown = files.name() + "/" + files.directory().relativize(file);
    return ModelFiles.readText(file, shown, MAX_LABEL_BYTES).lines().map(String::strip).toList();
  }

  // ---- Parameters ------------------------------------------------------------------------------

  private void readParameters(ModelSpec.Builder spec) {
    for (ConfigNode node : root.children(ModelConfig.PARAMETERS_FIELD_NUMBER)) {
      Parameter parameter = Parameter.of(node, config.getParametersMap());
      if (RESERVED.contains(parameter.key)) {
        throw node.invalid("parameter '" + parameter.key + "' is set by the runtime alone");
      } else if (parameter.key.equals(BATCH_STRATEGY)) {
        throw node.invalid(
            "parameter '" + BATCH_STRATEGY + "': custom batching libraries are not supported");
      } else if (parameter.key.startsWith(OWN_PREFIX)) {
        readOwn(spec, node, parameter);
      } else {
        spec.parameter(parameter.key, parameter.value);
      }
    }
  }

  private record Parameter(String key, String value) {

    static Parameter of(ConfigNode entry, Map<String, ModelParameter> parameters) {
      var descriptor = entry.message().getDescriptorForType();
      String key = (String) entry.message().getField(descriptor.findFieldByName("key"));
      return new Parameter(key, parameters.get(key).getStringValue());
    }
  }

  private static void readOwn(ModelSpec.Builder spec, ConfigNode node, Parameter parameter) {
    String value = parameter.value;
    switch (parameter.key) {
      case INLINE -> {
        if (!value.equals("true") && !value.equals("false")) {
          throw node.invalid(
              "expected " + INLINE + " \"true\" or \"false\", got \"" + value + "\"");
        }
        spec.inline(value.equals("true"));
      }
      case INLINE_BUDGET -> {
        // Ten digits are more than two hours and fit every unit that comes.
        if (!value.matches("[1-9][0-9]{0,9}")) {
          throw node.invalid(
              "expected " + INLINE_BUDGET + " as a whole number from 1 on, got \"" + value + "\"");
        }
        spec.inlineBudget(Duration.of(Long.parseLong(value), ChronoUnit.MICROS));
      }
      default ->
          throw node.invalid(
              "expected "
                  + INLINE
                  + " or "
                  + INLINE_BUDGET
                  + ", the parameters of Nereid itself, got '"
                  + parameter.key
                  + "'");
    }
  }
}
