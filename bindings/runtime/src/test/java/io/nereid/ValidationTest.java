package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Mistakes in a request are told in the words that users of other servers know. */
class ValidationTest extends RuntimeTest {

  private Model model;

  @BeforeEach
  void load() {
    model = nereid.load(InferTest.twoOutputs().build());
  }

  @Test
  void unknownModelsAndVersions() {
    assertFails(
        StatusCode.NOT_FOUND,
        "Request for unknown model: 'foo' is not found",
        () -> nereid.model("foo"));
    assertFails(
        StatusCode.NOT_FOUND,
        "Request for unknown model: 'two' version 99 is not found",
        () -> nereid.model("two", 99));
    model.unload();
    assertFails(
        StatusCode.NOT_FOUND,
        "Request for unknown model: 'two' has no available versions",
        () -> nereid.model("two"));
    assertFails(
        StatusCode.UNAVAILABLE,
        "Request for unknown model: 'two' version 1 is not at ready state",
        () -> nereid.model("two", 1));
  }

  @Test
  void unknownAndRepeatedTensors() {
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "unexpected inference input 'C' for model 'two', it has A, B",
        () -> model.newRequest().input("C", row(1)));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "unexpected inference output 'Z' for model 'two', it has X, Y",
        () -> model.newRequest().output("Z"));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "input 'A' already exists in request",
        () -> model.newRequest().input("A", row(1)).input("A", row(1)));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "output 'X' already exists in request",
        () -> model.newRequest().output("X").output("X"));
    try (var request = model.newRequest().input("A", row(1))) {
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          "input 'A' already exists in request",
          () -> request.allocateInput("A", 1, 4));
    }
  }

  @Test
  void aMissingInputAmongOptionalOnesSaysHowManyThereCanBe() {
    ModelSpec.Builder spec = ModelSpec.builder("four").backend("identity").maxBatchSize(8);
    for (String name : List.of("A", "B", "C")) {
      spec.input(name, DataType.FP32, 4);
    }
    spec.input(TensorSpec.of("D", DataType.FP32, 4).asOptional());
    spec.output("X", DataType.FP32, 4);
    String message =
        "expected number of inputs between 3 and 4 but got 2 inputs for model 'four'. Got input(s)"
            + " ['A','D'], but missing required input(s) ['B','C']. Please provide all required"
            + " input(s).";
    try (var request = nereid.load(spec.build()).newRequest()) {
      request.input("A", row(1)).input("D", row(1));
      assertFails(StatusCode.INVALID_ARGUMENT, message, request::infer);
    }
  }

  @Test
  void missingInputsCanBeAddedAndTheRequestSentAgain() {
    try (var request = model.newRequest().input("A", row(1))) {
      String message =
          "expected 2 inputs but got 1 inputs for model 'two'. Got input(s) ['A'], but missing "
              + "required input(s) ['B']. Please provide all required input(s).";
      assertFails(StatusCode.INVALID_ARGUMENT, message, request::infer);
      assertFails(StatusCode.INVALID_ARGUMENT, message, request::inferAsync);
      request.input("B", row(2));
      request.infer().close();
    }
  }

  @Test
  void optionalInputsMayBeMissing() {
    Model optional =
        nereid.load(
            ModelSpec.builder("optional")
                .backend(context ->
                    batch -> {
                      float sum = batch.hasInput("B") ? batch.input("B").floatAt(0) : -1;
                      batch.output("OUT", Tensor.ofFloats(new float[] {sum}, 1));
                    })
                .input("A", DataType.FP32, 1)
                .input(TensorSpec.of("B", DataType.FP32, 1).asOptional())
                .output("OUT", DataType.FP32, 1)
                .build());
    Tensor one = Tensor.ofFloats(new float[] {1}, 1);
    try (var request = optional.newRequest().input("A", one);
        var response = request.infer()) {
      assertEquals(-1f, response.output("OUT").floatAt(0));
    }
    try (var request = optional.newRequest().input("A", one).input("B", one);
        var response = request.infer()) {
      assertEquals(1f, response.output("OUT").floatAt(0));
    }
    try (var request = optional.newRequest().input("B", one)) {
      assertFails(StatusCode.INVALID_ARGUMENT, request::infer);
    }
  }

  @Test
  void theCoreChecksShapesTypesAndSizes() {
    assertRejected("shape", Tensor.ofFloats(new float[4], 4));
    assertRejected("shape", Tensor.ofFloats(new float[5], 1, 5));
    assertRejected("data-type", Tensor.ofInts(new int[4], 1, 4));
    assertRejected("batch-size", Tensor.ofFloats(new float[36], 9, 4));
    assertRejected(
        "Expected 16, got 12", Tensor.of(DataType.FP32, MemorySegment.ofArray(new float[3]), 1, 4));
    assertRejected("shape", Tensor.of(DataType.FP32, MemorySegment.ofArray(new float[4]), -1, -4));
    assertRejected("batch size does not match", Tensor.ofFloats(new float[8], 2, 4));
  }

  private void assertRejected(String part, Tensor tensor) {
    try (var request = model.newRequest().input("A", tensor).input("B", row(1))) {
      NereidException e = assertFails(StatusCode.INVALID_ARGUMENT, request::infer);
      assertTrue(e.getMessage().contains(part), e.getMessage());
    }
  }

  @Test
  void shapesThatCannotBeAreRefusedBeforeMemoryIsTaken() {
    try (var request = model.newRequest()) {
      assertFails(
          StatusCode.INVALID_ARGUMENT, () -> request.allocateInput("A", 1, 1, 1, 1, 1, 1, 1, 1, 4));
      assertFails(StatusCode.INVALID_ARGUMENT, () -> request.allocateInput("A", -1, 4));
      assertFails(
          StatusCode.INVALID_ARGUMENT, () -> request.allocateInput("A", 1L << 40, 1L << 40));
      assertFails(StatusCode.INVALID_ARGUMENT, () -> request.allocateInput("A", 1L << 62, 1));
    }
  }

  @Test
  void parameters() {
    try (var request = model.newRequest()) {
      for (Object value :
          List.of(true, 1, 2L, (short) 3, (byte) 4, "text", 1.5, 2.5f, BigInteger.ONE)) {
        request.parameter("key", value);
      }
    }
    for (Object value : Arrays.asList(List.of(), null, BigInteger.ONE.shiftLeft(64))) {
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          "parameter 'p' has invalid type. It should be either 'int', 'bool', or 'string'.",
          () -> model.newRequest().parameter("p", value));
    }
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
            + "specified.",
        () -> model.newRequest().parameter("triton_x", 1));
    assertThrows(
        IllegalArgumentException.class, () -> model.newRequest().timeout(Duration.ofSeconds(-1)));
    assertThrows(IllegalArgumentException.class, () -> model.newRequest().priority(-1));
  }

  @Test
  void specificationsAreChecked() {
    assertThrows(IllegalArgumentException.class, () -> ModelSpec.builder(" ").build());
    assertThrows(IllegalArgumentException.class, () -> ModelSpec.builder("m").build());
    assertThrows(IllegalArgumentException.class, () -> identity("m").version(0).build());
    assertThrows(IllegalArgumentException.class, () -> identity("m").maxBatchSize(-1).build());
    assertThrows(IllegalArgumentException.class, () -> identity("m").instanceCount(0).build());
    assertThrows(
        IllegalArgumentException.class,
        () -> DynamicBatching.builder().priorityLevels(2, 3).build());
    assertThrows(
        IllegalArgumentException.class,
        () -> DynamicBatching.builder().queuePolicy(1, QueuePolicy.DEFAULT).build());
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorSpec.of("t", DataType.FP32, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  }

  @Test
  void modelsThatCannotBeLoadedSayWhy() {
    NereidException twice =
        assertFails(
            StatusCode.INVALID_ARGUMENT,
            () -> nereid.load(identity("m").input("IN", DataType.FP32, 4).build()));
    assertTrue(twice.getMessage().contains("'IN' is there twice"), twice.getMessage());
    NereidException unknown =
        assertFails(
            StatusCode.NOT_FOUND, () -> nereid.load(identity("m").backend("nonsense").build()));
    assertTrue(unknown.getMessage().contains("'nonsense'"), unknown.getMessage());
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        () -> nereid.load(identity("m").backend("java.lang.String").build()));
    NereidException noModel =
        assertThrows(
            NereidException.class, () -> nereid.load(identity("m").backend("onnxruntime").build()));
    assertTrue(noModel.getMessage().contains("model_path"), noModel.getMessage());
  }
}
