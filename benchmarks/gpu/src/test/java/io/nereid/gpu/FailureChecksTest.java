package io.nereid.gpu;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FailureChecksTest {

  private static boolean isForWantOfMemory(String reason) {
    String message =
        "INVALID_ARGUMENT: load failed for model 'resnet50': version 1 is at UNAVAILABLE state: ";
    return FailureChecks.WANT_OF_MEMORY.matcher(message + reason).find();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GPU 0 (a GPU) is out of memory: Error Code 2: OutOfMemory (Requested size was 8 bytes.)",
        "TensorRT cannot make an execution context: Error Code 2: OutOfMemory",
        "expected 2097152 bytes of memory for inputs and outputs, GPU 0 (a GPU) has 0 of 1 left",
        "cudaStreamCreate failed: out of memory (cudaErrorMemoryAllocation)",
      })
  void wantOfMemory(String reason) {
    assertTrue(isForWantOfMemory(reason), reason);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TensorRT 10.6.0 cannot read the plan: it did not say why",
        "resnet50/1/model.plan is empty (0 bytes), expected a model",
      })
  void somethingElse(String reason) {
    assertFalse(isForWantOfMemory(reason), reason);
  }
}
