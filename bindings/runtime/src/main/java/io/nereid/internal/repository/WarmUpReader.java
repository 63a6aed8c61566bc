package io.nereid.internal.repository;

import io.nereid.DataType;
import io.nereid.ModelSpec;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.TensorSpec;
import io.nereid.WarmUp;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelWarmup;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads {@code model_warmup} for a model whose inputs are known. */
final class WarmUpReader {

  private static final String DIRECTORY = "warmup";

  private final ConfigNode root;
  private final ModelFiles files;
  private final ModelSpec spec;

  /**
   * A reader for one model.
   *
   * @param spec the rest of what it is loaded from
   */
  WarmUpReader(ConfigNode root, ModelFiles files, ModelSpec spec) {
    this.root = root;
    this.files = files;
    this.spec = spec;
  }

  List<WarmUp> read() {
    List<WarmUp> warmUps = new ArrayList<>();
    for (ConfigNode node : root.children(ModelConfig.MODEL_WARMUP_FIELD_NUMBER)) {
      ModelWarmup config = node.as(ModelWarmup.class);
      String name =
          config.getName().isEmpty() ? "warm-up " + (warmUps.size() + 1) : config.getName();
      warmUps.add(new WarmUp(name, batchSize(node, config), count(node, config), inputs(node)));
    }
    return warmUps;
  }

  private long batchSize(ConfigNode node, ModelWarmup config) {
    long size = Math.max(1, Integer.toUnsignedLong(config.getBatchSize()));
    if (size > Math.max(1, spec.maxBatchSize())) {
      throw node.invalid(
          ModelWarmup.BATCH_SIZE_FIELD_NUMBER,
          "expected batch_size of a warm-up up to "
              + Math.max(1, spec.maxBatchSize())
              + " (max_batch_size is "
              + spec.maxBatchSize()
              + "), got "
              + size);
    }
    return size;
  }

  private static int count(ConfigNode node, ModelWarmup config) {
    if (config.getCount() < 0) {
      throw node.invalid(
          ModelWarmup.COUNT_FIELD_NUMBER,
          "expected count of a warm-up up to "
              + Integer.MAX_VALUE
              + ", got "
              + Integer.toUnsignedLong(config.getCount()));
    }
    return Math.max(1, config.getCount());
  }

  private Map<String, WarmUp.Input> inputs(ConfigNode node) {
    Map<String, WarmUp.Input> inputs = new LinkedHashMap<>();
    for (ConfigNode entry : node.children(ModelWarmup.INPUTS_FIELD_NUMBER)) {
      String name = MapEntries.key(entry);
      TensorSpec input =
          spec.inputs().stream()
              .filter(one -> one.name().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  entry.invalid(
                      "the warm-up has an input '"
                          + name
                          + "', the model has "
                          + spec.inputs().stream().map(TensorSpec::name).toList()));
      inputs.put(name, input(MapEntries.value(entry), input));
    }
    for (TensorSpec input : spec.inputs()) {
      if (!input.optional() && !inputs.containsKey(input.name())) {
        throw node.invalid("the warm-up lacks the required input '" + input.name() + "'");
      }
    }
    return inputs;
  }

  private WarmUp.Input input(ConfigNode node, TensorSpec spec) {
    ModelWarmup.Input config = node.as(ModelWarmup.Input.class);
    String what = "warm-up input '" + spec.name() + "'";
    DataType type =
        DataTypes.read(node, ModelWarmup.Input.DATA_TYPE_FIELD_NUMBER, config.getDataType());
    if (type != spec.dataType()) {
      throw node.invalid(
          ModelWarmup.Input.DATA_TYPE_FIELD_NUMBER,
          "expected data_type of "
              + what
              + " as the model's input has it, "
              + DataTypes.configured(spec.dataType())
              + ", got "
              + DataTypes.configured(type));
    }
    List<Long> dims = config.getDimsList();
    if (!Dims.fit(dims, spec.dims()) || dims.stream().anyMatch(dim -> dim < 0)) {
      throw node.invalid(
          ModelWarmup.Input.DIMS_FIELD_NUMBER,
          "expected dims of "
              + what
              + " that fit the model's "
              + Dims.text(spec.dims())
              + (this.spec.maxBatchSize() > 0 ? ", without the batch dimension" : "")
              + " and without -1, got "
              + Dims.text(dims));
    }
    return new WarmUp.Input(type, dims, data(node, config, what, elementCount(node, what, dims)));
  }

  private static long elementCount(ConfigNode node, String what, List<Long> dims) {
    long count = 1;
    for (long dim : dims) {
      // Far from an overflow when it is multiplied by an element's size and by a batch's.
      if (dim > 0 && count > (1L << 40) / dim) {
        throw node.invalid(ModelWarmup.Input.DIMS_FIELD_NUMBER, what + " is too large");
      }
      count *= dim;
    }
    return count;
  }

  private WarmUp.Data data(ConfigNode node, ModelWarmup.Input config, String what, long count) {
    return switch (config.getInputDataTypeCase()) {
      case ZERO_DATA -> new WarmUp.Zero();
      case RANDOM_DATA -> new WarmUp.Random();
      case INPUT_DATA_FILE -> {
        Path base = files.directory().resolve(DIRECTORY);
        Path file = ModelFiles.inside(base, config.getInputDataFile(), "input_data_file");
        DataType type = DataTypes.of(config.getDataType()).orElseThrow();
        checkContent(file, what, type, count);
        yield new WarmUp.Content(file);
      }
      case INPUTDATATYPE_NOT_SET ->
          throw node.invalid("expected zero_data, random_data or input_data_file for " + what);
    };
  }

  private void checkContent(Path file, String what, DataType type, long count) {
    long size = files.size(file);
    boolean fits = type.isFixedSize() ? size == count * type.byteSize() : hasStrings(file, count);
    if (!fits) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          files.shown(file)
              + ": expected "
              + (type.isFixedSize()
                  ? count * type.byteSize() + " bytes"
                  : count + " strings, each after its length in 4 bytes, little-endian")
              + " for "
              + what
              + ", got "
              + size
              + " bytes");
    }
  }

  /** Whether a file holds this many strings, each after its length, and nothing else. */
  private boolean hasStrings(Path file, long count) {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      for (long i = 0; i < count; i++) {
        in.skipNBytes(Integer.toUnsignedLong(Integer.reverseBytes(in.readInt())));
      }
      return in.read() < 0;
    } catch (EOFException e) {
      return false;
    } catch (IOException e) {
      throw ModelFiles.failure(files.shown(file), e);
    }
  }
}
