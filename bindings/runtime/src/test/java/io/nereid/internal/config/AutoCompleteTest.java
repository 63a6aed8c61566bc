package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.TextFormat;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model completes values that its configuration leaves out. */
class AutoCompleteTest {

  private static final ModelSignature BATCHED =
      new ModelSignature(
          List.of(
              TensorSpec.of("A", DataType.FP32, -1, 16),
              TensorSpec.of("B", DataType.BYTES, -1, -1),
              // A weight that a request may send its own of.
              TensorSpec.of("W", DataType.FP32, 128).asOptional()),
          List.of(
              TensorSpec.of("X", DataType.INT64, -1), TensorSpec.of("Y", DataType.FP16, -1, 2, 3)),
          0);

  private static final ModelSignature FIXED =
      new ModelSignature(
          List.of(TensorSpec.of("A", DataType.FP32, 1, 16), TensorSpec.of("S", DataType.INT32)),
          List.of(TensorSpec.of("X", DataType.INT64, -1)),
          0);

  private static final String ALL_INPUTS =
      "input { name: 'A' data_type: TYPE_FP32 dims: 16 }"
          + " input { name: 'B' data_type: TYPE_STRING  dims: -1 }";
  private static final String ALL_OUTPUTS =
      " output { name: 'X' data_type: TYPE_INT64 dims: 1 reshape { } }"
          + " output { name: 'Y' data_type: TYPE_FP16 dims: [ 2, 3 ] }";

  @TempDir Path directory;

  private Path model;

  @BeforeEach
  void makeModel() throws IOException {
    model = Files.createDirectories(directory.resolve("m"));
    Files.createDirectory(model.resolve("1"));
    Files.writeString(model.resolve("1/model.onnx"), "x");
  }

  private ModelDraft draft(String config) throws IOException {
    Files.writeString(model.resolve("config.pbtxt"), config);
    return draft(ReadOptions.DEFAULT);
  }

  private ModelDraft draft(ReadOptions options) {
    List<ModelDraft> reading = ModelReader.read(model, options, line -> {});
    return switch (reading.getFirst()) {
      case ModelDraft.Broken broken -> throw broken.cause();
      case ModelDraft readable -> readable;
    };
  }

  private static ModelConfig parsed(String text) throws TextFormat.ParseException {
    return TextFormat.parse(text, ModelConfig.class);
  }

  private ModelDraft.Whole complete(String config, ModelSignature signature) throws IOException {
    ModelDraft.Partial draft = assertInstanceOf(ModelDraft.Partial.class, draft(config), config);
    assertEquals(List.of(), draft.opening().inputs());
    return draft.complete(Optional.of(signature));
  }

  private static ModelConfig message(ModelDraft.Whole model) {
    return model.served().message();
  }

  /** The part of the configuration that can be completed. */
  private static ModelConfig completable(ModelConfig config) {
    ModelConfig.Builder part =
        ModelConfig.newBuilder()
            .setMaxBatchSize(config.getMaxBatchSize())
            .addAllInput(config.getInputList())
            .addAllOutput(config.getOutputList());
    if (config.hasDynamicBatching()) {
      part.setDynamicBatching(config.getDynamicBatching().toBuilder().clearDefaultQueuePolicy());
    }
    return part.build();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "|max_batch_size: 4 dynamic_batching { preferred_batch_size: 4 } INPUTS OUTPUTS",
        "max_batch_size: 8|max_batch_size: 8 INPUTS OUTPUTS",
        "dynamic_batching { preserve_ordering: true }|max_batch_size: 4 dynamic_batching {"
            + " preserve_ordering: true preferred_batch_size: 4 } INPUTS OUTPUTS",
        "output { name: 'Y' }|max_batch_size: 4 dynamic_batching { preferred_batch_size: 4 } INPUTS"
            + " output { name: 'Y' data_type: TYPE_FP16 dims: [ 2, 3 ] }",
        "input { name: 'B' optional: false dims: 7 } max_batch_size: 2|max_batch_size: 2"
            + " input { name: 'B' data_type: TYPE_STRING dims: 7 }"
            + " input { name: 'A' data_type: TYPE_FP32 dims: 16 } OUTPUTS",
        "max_batch_size: 0 output { name: 'X' } input { name: 'W' optional: true }"
            + "|input { name: 'W' data_type: TYPE_FP32 dims: 128 optional: true }"
            + " input { name: 'A' data_type: TYPE_FP32 dims: [ -1, 16 ] }"
            + " input { name: 'B' data_type: TYPE_STRING dims: [ -1, -1 ] }"
            + " output { name: 'X' data_type: TYPE_INT64 dims: -1 }",
        "input { name: 'A' dims: [ -1, 16 ] }|input { name: 'A' data_type: TYPE_FP32"
            + " dims: [ -1, 16 ] } input { name: 'B' data_type: TYPE_STRING dims: [ -1, -1 ]"
            + " } output { name: 'X' data_type: TYPE_INT64 dims: -1 }"
            + " output { name: 'Y' data_type: TYPE_FP16 dims: [ -1, 2, 3 ] }",
        "max_batch_size: 0|input { name: 'A' data_type: TYPE_FP32 dims: [ -1, 16 ] }"
            + " input { name: 'B' data_type: TYPE_STRING dims: [ -1, -1 ] }"
            + " output { name: 'X' data_type: TYPE_INT64 dims: -1 }"
            + " output { name: 'Y' data_type: TYPE_FP16 dims: [ -1, 2, 3 ] }",
        "max_batch_size: 3 input { name: 'A' dims: [ 4, 4 ] reshape { shape: 16 } }|max_batch_size:"
            + " 3 input { name: 'A' data_type: TYPE_FP32 dims: [ 4, 4 ] reshape { shape: 16 } }"
            + " input { name: 'B' data_type: TYPE_STRING dims: -1 } OUTPUTS",
      })
  void gapsAreFilled(String config, String expected) throws IOException {
    ModelDraft.Whole completed = complete(config == null ? "" : config, BATCHED);
    String text = expected.replace("INPUTS", ALL_INPUTS).replace("OUTPUTS", ALL_OUTPUTS);
    assertEquals(parsed(text), completable(message(completed)));
    assertEquals(message(completed).getMaxBatchSize(), completed.spec().maxBatchSize());
    assertEquals(
        message(completed).hasDynamicBatching(), completed.spec().dynamicBatching().isPresent());
    assertEquals(
        message(completed).getInputList().stream().map(input -> input.getName()).toList(),
        completed.spec().inputs().stream().map(TensorSpec::name).toList());
  }

  @Test
  void withoutAFreeFirstDimensionThereIsNoBatch() throws IOException {
    ModelDraft.Whole completed = complete("", FIXED);
    assertEquals(
        parsed(
            "input { name: 'A' data_type: TYPE_FP32 dims: [ 1, 16 ] }"
                + " input { name: 'S' data_type: TYPE_INT32 dims: 1 reshape { } }"
                + " output { name: 'X' data_type: TYPE_INT64 dims: -1 }"),
        completable(message(completed)));
    assertEquals(Optional.of(List.of()), completed.spec().inputs().getLast().reshape());
  }

  @ParameterizedTest
  @CsvSource({"4, 0, 4", "4, 3, 3", "4, 9, 4", "1, 0, 1", "0, 0, 0"})
  void theBatchIsAsLargeAsBothAllow(int standard, int own, int expected) throws IOException {
    ModelSignature signature = new ModelSignature(BATCHED.inputs(), BATCHED.outputs(), own);
    ModelDraft draft = draft(new ReadOptions(true, standard, Optional.empty()));
    ModelDraft.Whole completed = draft.complete(Optional.of(signature));
    assertEquals(expected, completed.spec().maxBatchSize());
    assertEquals(expected > 1, completed.spec().dynamicBatching().isPresent());
  }

  @Test
  void completeConfigurationsNeedNoBackend() throws IOException {
    ModelDraft draft = draft(ALL_INPUTS + ALL_OUTPUTS);
    assertFalse(draft instanceof ModelDraft.Partial);
    ModelSpec spec = draft.complete(Optional.empty()).spec();
    assertEquals(2, spec.parameters().size() + 1);
    assertEquals(0, spec.maxBatchSize());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "input { name: 'Z' }|m/config.pbtxt:1:1: input 'Z' is configured, but the model has no such"
            + " input: it has ['A', 'B', 'W']",
        "output { name: 'A' }|1:1: output 'A' is configured, but the model has no such output",
        "input { name: 'A' data_type: TYPE_INT8 }|1:19: input 'A' is configured as TYPE_INT8, but"
            + " the model has FP32: set data_type: TYPE_FP32",
        "max_batch_size: 2 input { name: 'A' dims: 5 }|1:37: input 'A' is configured with dims"
            + " [ 5 ] after the batch dimension (max_batch_size is 2), but the model has"
            + " [ -1, 16 ]: set dims: [ 16 ], which leave out the batch dimension",
        "input { name: 'A' dims: 16 }|input 'A' is configured with dims [ 16 ] and no batch"
            + " dimension (max_batch_size is 0), but the model has [ -1, 16 ]: set dims:"
            + " [ -1, 16 ], or max_batch_size to 1 or more if the first dimension is the batch",
        "max_batch_size: 2 input { name: 'A' dims: 8 reshape { shape: [ 2, 4 ] } }|configured with"
            + " dims [ 8 ] and reshape [ 2, 4 ] after the batch dimension",
        "max_batch_size: 2 input { name: 'A' dims: 16 allow_ragged_batch: true }|1:46: input 'A' is"
            + " configured with allow_ragged_batch, for which the model must have [ -1 ], but it"
            + " has [ -1, 16 ]",
        "max_batch_size: 2 input { name: 'A' allow_ragged_batch: true }|1:19: input 'A' has"
            + " allow_ragged_batch but no dims, which the model cannot tell"
      })
  void clashesSayWhatToChange(String config, String expected) throws IOException {
    NereidException failure = assertThrows(NereidException.class, () -> complete(config, BATCHED));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "max_batch_size: 2|input 'A' has no dims in the configuration, and the model's are"
            + " [ 1, 16 ], while max_batch_size is 2: the model has no free first dimension for"
            + " the batch: set max_batch_size: 0 and dims: [ 1, 16 ], or export",
        "max_batch_size: 2 input { name: 'A' dims: 16 }|configured with dims [ 16 ] after the"
            + " batch dimension (max_batch_size is 2), but the model has [ 1, 16 ]: the model has"
            + " no free first dimension"
      })
  void aModelWithoutABatchDimensionSaysSo(String config, String expected) throws IOException {
    NereidException failure = assertThrows(NereidException.class, () -> complete(config, FIXED));
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }

  /** A is what the core makes, X is cut by the shapes of B: neither is as the model has it. */
  @Test
  void tensorsThatTheCoreMakesOrCutsAreNotTheModels() throws IOException {
    ModelSignature ragged =
        new ModelSignature(
            List.of(TensorSpec.of("A", DataType.INT32, -1), TensorSpec.of("B", DataType.FP32, -1)),
            BATCHED.outputs(),
            0);
    ModelDraft.Whole completed =
        complete(
            "max_batch_size: 2 input { name: 'B' dims: [ -1, 3 ] allow_ragged_batch: true }"
                + " batch_input { target_name: 'A' data_type: TYPE_INT32 source_input: 'B' }"
                + " output { name: 'X' dims: [ -1, 3 ] }"
                + " batch_output { target_name: 'X' source_input: 'B' }",
            ragged);
    assertEquals(
        List.of(TensorSpec.of("B", DataType.FP32, -1, 3).asRagged()), completed.spec().inputs());
    assertEquals(List.of(TensorSpec.of("X", DataType.INT64, -1, 3)), completed.spec().outputs());
  }

  @Test
  void mistakesAreFoundAfterCompletionToo() throws IOException {
    NereidException failure =
        assertThrows(
            NereidException.class,
            () -> complete("dynamic_batching { preferred_batch_size: 5 }", BATCHED));
    assertEquals(
        "m/config.pbtxt:1:20: expected preferred_batch_size from 1 to max_batch_size, which is 4,"
            + " got 5",
        failure.getMessage());
  }

  @Test
  void everyValueHasItsOrigin() throws IOException {
    ModelDraft.Whole completed =
        complete("input { name: 'B' dims: 7 }\nmax_batch_size: 2\n", BATCHED);
    List<String> values = completed.served().values().stream().map(AutoCompleteTest::line).toList();
    assertEquals(
        List.of(
            "name \"m\" DEFAULT",
            "platform \"onnxruntime_onnx\" MODEL",
            "backend \"onnxruntime\" MODEL",
            "version_policy.latest.num_versions 1 DEFAULT",
            "max_batch_size 2 FILE m/config.pbtxt:2:1",
            "input[0].name \"B\" FILE m/config.pbtxt:1:9",
            "input[0].data_type TYPE_STRING MODEL",
            "input[0].dims [ 7 ] FILE m/config.pbtxt:1:19",
            "input[1].name \"A\" MODEL",
            "input[1].data_type TYPE_FP32 MODEL",
            "input[1].dims [ 16 ] MODEL",
            "output[0].name \"X\" MODEL",
            "output[0].data_type TYPE_INT64 MODEL",
            "output[0].dims [ 1 ] MODEL",
            "output[0].reshape { } MODEL",
            "output[1].name \"Y\" MODEL",
            "output[1].data_type TYPE_FP16 MODEL",
            "output[1].dims [ 2, 3 ] MODEL",
            "optimization.input_pinned_memory.enable true DEFAULT",
            "optimization.output_pinned_memory.enable true DEFAULT",
            "instance_group[0].name \"m_0\" DEFAULT",
            "instance_group[0].kind KIND_CPU DEFAULT",
            "instance_group[0].count 1 DEFAULT",
            "default_model_filename \"model.onnx\" DEFAULT",
            "model_transaction_policy.decoupled false DEFAULT",
            "response_cache.enable false DEFAULT"),
        values);
  }

  @Test
  void aBatcherThatWasAddedHasDefaults() throws IOException {
    List<Value> values =
        complete("", BATCHED).served().values().stream()
            .filter(value -> value.path().startsWith("dynamic_batching."))
            .toList();
    assertEquals(8, values.size(), values.toString());
    assertTrue(values.stream().allMatch(value -> value.origin() == Origin.DEFAULT));
  }

  private static String line(Value value) {
    String text = value.path() + " " + value.text() + " " + value.origin();
    return value.origin() == Origin.FILE ? text + " " + value.place() : text;
  }
}
