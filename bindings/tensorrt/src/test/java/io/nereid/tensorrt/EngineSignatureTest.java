package io.nereid.tensorrt;

import static io.nereid.tensorrt.RecordedEngines.input;
import static io.nereid.tensorrt.RecordedEngines.output;
import static io.nereid.tensorrt.RecordedEngines.range;
import static io.nereid.tensorrt.RecordedEngines.sizes;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The configuration that an engine implies. */
class EngineSignatureTest {

  private static EngineSignature of(EngineDescription engine) {
    return new EngineSignature("m", engine);
  }

  private static EngineDescription engine(EngineTensor... tensors) {
    return new EngineDescription("", List.of(tensors), List.of(), 0, Set.of());
  }

  private static ModelSpec.Builder classifier() {
    return ModelSpec.builder("m")
        .backend("tensorrt")
        .maxBatchSize(32)
        .input("image", DataType.FP32, 3, 8, 8)
        .output("scores", DataType.FP16, 10);
  }

  private static void assertRefused(String message, EngineDescription engine, ModelSpec spec) {
    NereidException e = assertThrows(NereidException.class, () -> of(engine).check(spec));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertEquals("model 'm': " + message, e.getMessage());
  }

  @Test
  void configurationsAreCompletedFromTheEngine() {
    ModelSignature signature = of(RecordedEngines.classifier()).signature();
    assertEquals(List.of(TensorSpec.of("image", DataType.FP32, -1, 3, 8, 8)), signature.inputs());
    assertEquals(List.of(TensorSpec.of("scores", DataType.FP16, -1, 10)), signature.outputs());
    assertEquals(32, signature.maxBatchSize());
  }

  @Test
  void anInputOfShapesMeansThatThereIsNoBatch() {
    ModelSignature signature = of(RecordedEngines.reshaping()).signature();
    assertEquals(0, signature.maxBatchSize());
    assertEquals(TensorSpec.of("shape", DataType.INT64, 2), signature.inputs().get(1));
  }

  @Test
  void anOutputWithRowsOfItsOwnMeansThatThereIsNoBatch() {
    EngineDescription engine = RecordedEngines.classifier().withOwnRows(Set.of("scores"));
    assertEquals(0, of(engine).signature().maxBatchSize());
    assertRefused(
        "output 'scores' has the dims [-1, 10], whose first one is not that of the inputs, so there"
            + " is no batch: expected max_batch_size: 0",
        engine,
        classifier().build());
  }

  /** Elements of all requests, how many each has, and a row of the answer for each. */
  private static EngineDescription ragged(EngineTensor x, long most) {
    return new EngineDescription(
        "",
        List.of(
            x,
            input("ends", EngineType.INT32, -1),
            output("y", EngineType.FLOAT, -1),
            output("sums", EngineType.FLOAT, -1, 1)),
        List.of(
            new EngineProfile(
                0,
                Map.of(
                    "x", range(sizes(1), sizes(8), sizes(64)),
                    "ends", range(sizes(1), sizes(4), sizes(most))),
                Map.of())),
        0,
        Set.of("y", "sums")); // what the probe says of shapes that never come is not asked
  }

  private static ModelSpec.Builder ragged(BatchInput.Kind kind) {
    return ModelSpec.builder("m")
        .backend("tensorrt")
        .maxBatchSize(8)
        .input(TensorSpec.of("x", DataType.FP32, -1).asRagged())
        .batchInput(BatchInput.of(kind, "ends", "x"))
        .output("y", DataType.FP32, -1)
        .output("sums", DataType.FP32, 1)
        .batchOutput(new BatchOutput(List.of("y"), "x"));
  }

  @ParameterizedTest
  @CsvSource({
    "ELEMENT_COUNT, 8, 7",
    "ACCUMULATED_ELEMENT_COUNT, 8, 7",
    "ACCUMULATED_ELEMENT_COUNT_WITH_ZERO, 9, 7",
    "ITEM_SHAPE_FLATTEN, 8, 7"
  })
  void raggedBatchesNeedTheElementsInOneDimension(BatchInput.Kind kind, long most, long fewer) {
    EngineTensor x = input("x", EngineType.FLOAT, -1);
    ModelSpec spec = ragged(kind).build().forBackend();
    assertDoesNotThrow(() -> of(ragged(x, most)).check(spec));
    assertRefused(
        "expected a max_batch_size of at most "
            + fewer
            + ", which is what the engine's profiles allow, got 8",
        ragged(x, most - 1),
        spec);
    assertRefused(
        "input 'x' has allow_ragged_batch, for which the engine must have [-1], the elements of"
            + " all requests, but it has [-1, 4]",
        ragged(input("x", EngineType.FLOAT, -1, 4), most),
        spec);
  }

  @Test
  void theMostElementsSayNothingOfRows() {
    ModelSpec spec = ragged(BatchInput.Kind.MAX_ELEMENT_COUNT_AS_SHAPE).build().forBackend();
    assertDoesNotThrow(() -> of(ragged(input("x", EngineType.FLOAT, -1), 3)).check(spec));
  }

  @Test
  void aStateInTheProcessorsMemoryIsRefused() {
    EngineTensor host =
        new EngineTensor("state", true, EngineType.INT64, sizes(2), true, true, true);
    EngineDescription engine = engine(host, output("next", EngineType.INT64, 2));
    ModelSpec spec =
        ModelSpec.builder("m")
            .backend("tensorrt")
            .sequenceBatching(
                SequenceBatching.direct().withState(State.of("state", "next", DataType.INT64, 2)))
            .build()
            .forBackend();
    assertRefused(
        "input 'state' is in the processor's memory, as shapes are computed from it: expected a"
            + " state on the device",
        engine,
        spec);
  }

  @ParameterizedTest
  @EnumSource(value = EngineType.class, mode = EnumSource.Mode.EXCLUDE, names = "INT4")
  void allTypesOfAByteOrMoreAreServed(EngineType type) {
    ModelSignature signature = of(engine(input("x", type))).signature();
    DataType served = signature.inputs().getFirst().dataType();
    DataType expected =
        switch (type) {
          case FLOAT -> DataType.FP32;
          case HALF -> DataType.FP16;
          case INT8 -> DataType.INT8;
          case INT32 -> DataType.INT32;
          case BOOL -> DataType.BOOL;
          case UINT8, FP8 -> DataType.UINT8;
          case BF16 -> DataType.BF16;
          case INT64 -> DataType.INT64;
          case INT4 -> throw new AssertionError("not served");
        };
    assertEquals(expected, served);
  }

  @Test
  void tensorsThatNoRequestCanCarryAreRefused() {
    for (EngineType type : new EngineType[] {EngineType.INT4, null}) {
      NereidException e =
          assertThrows(NereidException.class, () -> of(engine(input("x", type, 4))).signature());
      assertTrue(e.getMessage().startsWith("model 'm': input 'x' has the type "), e.getMessage());
    }
    EngineTensor vectorized =
        new EngineTensor("x", true, EngineType.INT8, sizes(4), false, false, false);
    assertThrows(NereidException.class, () -> of(engine(vectorized)).signature());
  }

  @Test
  void aConfigurationThatFitsIsAccepted() {
    EngineSignature signature = of(RecordedEngines.classifier());
    assertDoesNotThrow(() -> signature.check(classifier().build()));
    ModelSpec reshaped =
        ModelSpec.builder("m")
            .backend("tensorrt")
            .maxBatchSize(4)
            .input(TensorSpec.of("image", DataType.FP32, 192).withReshape(3, 8, 8))
            .build();
    assertDoesNotThrow(() -> signature.check(reshaped));
  }

  @Test
  void misfitsAreNamed() {
    EngineDescription engine = RecordedEngines.classifier();
    assertRefused(
        "expected a max_batch_size of at most 32, which is what the engine's profiles allow, got"
            + " 33",
        engine,
        classifier().maxBatchSize(33).build());
    assertRefused(
        "the engine has no output 'labels', it has [scores]",
        engine,
        classifier().output("labels", DataType.INT32, 1).build());
    ModelSpec.Builder other = ModelSpec.builder("m").backend("tensorrt").maxBatchSize(4);
    assertRefused(
        "expected input 'image' of the engine among the inputs []", engine, other.build());
    assertRefused(
        "expected data_type FP32 for input 'image', got FP16",
        engine,
        other.input("image", DataType.FP16, 3, 8, 8).build());
    ModelSpec dims =
        ModelSpec.builder("m")
            .backend("tensorrt")
            .maxBatchSize(4)
            .input("image", DataType.FP32, 3, 8, 9)
            .build();
    assertRefused(
        "expected dims for input 'image' that fit [-1, 3, 8, 8], the engine's, got [-1, 3, 8, 9]"
            + " with the batch",
        engine,
        dims);
  }

  @Test
  void aBatchNeedsADimensionForIt() {
    EngineDescription engine =
        new EngineDescription(
            "",
            List.of(input("x", EngineType.FLOAT, 4), output("y", EngineType.FLOAT, 4)),
            List.of(),
            0,
            Set.of());
    ModelSpec spec =
        ModelSpec.builder("m")
            .backend("tensorrt")
            .maxBatchSize(1)
            .input("x", DataType.FP32)
            .build();
    assertRefused(
        "input 'x' has the dims [4] without a free first one, so there is no batch: expected"
            + " max_batch_size: 0",
        engine,
        spec);
  }
}
