package io.nereid.internal.config;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelWarmup;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads {@code model_warmup} for a model whose inputs are known. */
final class WarmUpReader {

  /** The most bytes of one warm-up's inputs together, over all rows of the batch. */
  static final long MAX_BYTES = 1L << 30;

  /** The most executions by one instance for all warm-ups of a model together. */
  static final int MAX_COUNT = 10_000;

  private static final String DIRECTORY = "warmup";

  /** The bytes of an empty string: its length stands before it. */
  private static final int STRING_BYTES = 4;

  private final ConfigNode root;
  private final ModelFiles files;
  private final ModelSpec spec;
  private final Map<String, TensorSpec> specs;

  /**
   * A reader for one model.
   *
   * @param spec the specification with everything but the warm-up
   */
  WarmUpReader(ConfigNode root, ModelFiles files, ModelSpec spec) {
    this.root = root;
    this.files = files;
    this.spec = spec;
    specs = spec.inputs().stream().collect(Collectors.toMap(TensorSpec::name, Function.identity()));
  }

  List<WarmUp> read() {
    List<WarmUp> warmUps = new ArrayList<>();
    int countLeft = MAX_COUNT;
    for (ConfigNode node : root.children(ModelConfig.MODEL_WARMUP_FIELD_NUMBER)) {
      ModelWarmup config = node.as(ModelWarmup.class);
      String name =
          config.getName().isEmpty() ? "warm-up " + (warmUps.size() + 1) : config.getName();
      long batchSize = batchSize(node, config);
      int count = count(node, config, countLeft);
      countLeft -= count;
      warmUps.add(new WarmUp(name, batchSize, count, inputs(node, batchSize)));
    }
    return warmUps;
  }

  private long batchSize(ConfigNode node, ModelWarmup config) {
    long size = Math.max(1, Integer.toUnsignedLong(config.getBatchSize()));
    if (size > Math.max(1, spec.maxBatchSize())) {
      throw node.invalid(
          ModelWarmup.BATCH_SIZE_FIELD_NUMBER,
          "expected batch_size of a warm-up up to %s (max_batch_size is %s), got %s"
              .formatted(Math.max(1, spec.maxBatchSize()), spec.maxBatchSize(), size));
    }
    return size;
  }

  private static int count(ConfigNode node, ModelWarmup config, int most) {
    long count = Math.max(1, Integer.toUnsignedLong(config.getCount()));
    if (count > most) {
      throw node.invalid(
          ModelWarmup.COUNT_FIELD_NUMBER,
          "expected warm-ups that are executed at most %s times together (count), got %s"
              .formatted(MAX_COUNT, MAX_COUNT - most + count));
    }
    return (int) count;
  }

  private Map<String, WarmUp.Input> inputs(ConfigNode node, long batchSize) {
    Map<String, WarmUp.Input> inputs = new LinkedHashMap<>();
    long bytesLeft = MAX_BYTES;
    for (ConfigNode entry : node.children(ModelWarmup.INPUTS_FIELD_NUMBER)) {
      String name = entry.key();
      TensorSpec input = specs.get(name);
      if (input == null) {
        throw entry.invalid(
            "the warm-up has an input '%s', the model has %s"
                .formatted(name, spec.inputs().stream().map(TensorSpec::name).toList()));
      }
      ConfigNode value = entry.entryValue();
      checkTensor(value, input);
      bytesLeft -= bytes(value, input, batchSize, bytesLeft);
      inputs.put(name, input(value, input, batchSize));
    }
    for (TensorSpec input : spec.inputs()) {
      if (!input.optional() && !inputs.containsKey(input.name())) {
        throw node.invalid("the warm-up lacks the required input '" + input.name() + "'");
      }
    }
    return inputs;
  }

  private void checkTensor(ConfigNode node, TensorSpec spec) {
    ModelWarmup.Input config = node.as(ModelWarmup.Input.class);
    String what = "warm-up input '" + spec.name() + "'";
    DataType type =
        ConfigTensor.readType(node, ModelWarmup.Input.DATA_TYPE_FIELD_NUMBER, config.getDataType());
    if (type != spec.dataType()) {
      throw node.invalid(
          ModelWarmup.Input.DATA_TYPE_FIELD_NUMBER,
          "expected data_type of "
              + what
              + " as the model's input has it, "
              + ConfigTensor.configured(spec.dataType())
              + ", got "
              + ConfigTensor.configured(type));
    }
    List<Long> dims = config.getDimsList();
    if (!ConfigTensor.fit(dims, spec.dims()) || dims.stream().anyMatch(dim -> dim < 0)) {
      throw node.invalid(
          ModelWarmup.Input.DIMS_FIELD_NUMBER,
          "expected dims of "
              + what
              + " that fit the model's "
              + ConfigTensor.text(spec.dims())
              + (this.spec.maxBatchSize() > 0 ? ", without the batch dimension" : "")
              + " and without -1, got "
              + ConfigTensor.text(dims));
    }
  }

  private WarmUp.Input input(ConfigNode node, TensorSpec spec, long batchSize) {
    ModelWarmup.Input config = node.as(ModelWarmup.Input.class);
    long count = elementCount(config.getDimsList()).longValueExact();
    String what = "warm-up input '" + spec.name() + "'";
    WarmUp.Data data = data(node, config, what);
    if (data instanceof WarmUp.Content content) {
      checkContent(content.path(), what, spec.dataType(), count, batchSize);
    }
    return new WarmUp.Input(spec.dataType(), config.getDimsList(), data);
  }

  private static BigInteger elementCount(List<Long> dims) {
    return dims.stream().map(BigInteger::valueOf).reduce(BigInteger.ONE, BigInteger::multiply);
  }

  /**
   * Returns the bytes that an input takes for all rows; for strings, the bytes of their lengths,
   * which are known without reading them.
   */
  private long bytes(ConfigNode node, TensorSpec spec, long batchSize, long most) {
    ModelWarmup.Input config = node.as(ModelWarmup.Input.class);
    List<Long> dims = config.getDimsList();
    int size = spec.dataType().isFixedSize() ? spec.dataType().byteSize() : STRING_BYTES;
    BigInteger row = elementCount(dims).multiply(BigInteger.valueOf(size));
    BigInteger bytes = row.multiply(BigInteger.valueOf(batchSize));
    if (bytes.compareTo(BigInteger.valueOf(most)) > 0) {
      throw node.invalid(
          ModelWarmup.Input.DIMS_FIELD_NUMBER,
          ("warm-up input '%s' is too large: dims %s with elements of %s bytes and batch_size "
                  + "%s take %s bytes, the inputs of a warm-up at most %s together")
              .formatted(spec.name(), ConfigTensor.text(dims), size, batchSize, bytes, MAX_BYTES));
    }
    return bytes.longValueExact();
  }

  private WarmUp.Data data(ConfigNode node, ModelWarmup.Input config, String what) {
    return switch (config.getInputDataTypeCase()) {
      case ZERO_DATA -> new WarmUp.Zero();
      case RANDOM_DATA -> new WarmUp.Random();
      case INPUT_DATA_FILE -> {
        Path base = files.directory().resolve(DIRECTORY);
        Path file = ModelFiles.inside(base, config.getInputDataFile(), "input_data_file");
        yield new WarmUp.Content(file);
      }
      case INPUTDATATYPE_NOT_SET ->
          throw node.invalid("expected zero_data, random_data or input_data_file for " + what);
    };
  }

  private void checkContent(Path file, String what, DataType type, long count, long batchSize) {
    long size = files.size(file);
    if (size > MAX_BYTES / batchSize) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "%s is too large for %s: %s bytes for each of %s rows, expected at most %s together"
              .formatted(files.shown(file), what, size, batchSize, MAX_BYTES));
    }
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

  /** True if a file holds this many strings, each after its length, and nothing else. */
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
