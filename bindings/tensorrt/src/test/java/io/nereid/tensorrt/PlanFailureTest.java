package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Messages about plans that cannot be used. */
class PlanFailureTest {

  private static final TensorRtVersion HERE = new TensorRtVersion(10, 6, 0);
  private static final TensorRtVersion OTHER = new TensorRtVersion(10, 3, 0);
  private static final Gpu DEVICE = new Gpu(0, "NVIDIA H200", 9, 0, 1L << 37);

  private final PlanFailure failure =
      new PlanFailure("m", Path.of("/models/m/1/model.plan"), HERE, DEVICE);

  private static void assertMessage(StatusCode code, String message, NereidException e) {
    assertEquals(code, e.code());
    assertEquals("model 'm' (/models/m/1/model.plan): " + message, e.getMessage());
  }

  @Test
  void anotherVersionIsNamedWithTheCommandThatRebuilds() {
    assertMessage(
        StatusCode.FAILED_PRECONDITION,
        "the plan was built by TensorRT 10.3.0, and the one here is 10.6.0: rebuild it. A plan that"
            + " was built to be version-compatible needs the parameter version_compatible:"
            + " \"true\"; the command: ./nereid build model.onnx -o /models/m/1/model.plan",
        failure.otherVersion(OTHER));
  }

  /** The words are those of TensorRT 10.6's library. */
  @Test
  void anotherGpuIsNamedWhicheverWayRoundTensorRtSaysIt() {
    for (String computes : List.of("9.0 got compute 8.6", "8.6 got compute 9.0")) {
      String logged =
          "IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (The engine plan file is"
              + " generated on an incompatible device, expecting compute "
              + computes
              + ", please rebuild.)";
      assertMessage(
          StatusCode.FAILED_PRECONDITION,
          "the plan was built for GPUs of compute capability 8.6, and GPU 0 (NVIDIA H200) has 9.0:"
              + " rebuild it on such a GPU: ./nereid build model.onnx -o /models/m/1/model.plan",
          failure.unreadable(Optional.of(HERE), List.of("something before", logged)));
    }
  }

  @Test
  void tensorRtsWordsOnVersionsArePassedOn() {
    String logged =
        "The engine plan file is not compatible with this version of TensorRT, expecting library"
            + " version 10.6.0.26 got 10.3.0.30, please rebuild.";
    String message = failure.unreadable(Optional.of(OTHER), List.of(logged)).getMessage();
    assertTrue(
        message.contains(
            "built by TensorRT 10.3.0, and the one here is 10.6.0 (expecting library version"
                + " 10.6.0.26 got 10.3.0.30): rebuild it"),
        message);
  }

  @Test
  void aHardwareCompatiblePlanIsNotForOlderGpus() {
    String logged =
        "The current device is not compatible with this hardware-compatible engine. Expected"
            + " compute capability >= 12.0 but got compute capability = 9.0";
    assertMessage(
        StatusCode.FAILED_PRECONDITION,
        "the plan was built for GPUs of compute capability 12.0 or newer, and GPU 0 (NVIDIA H200)"
            + " has 9.0: rebuild it on such a GPU: ./nereid build model.onnx -o"
            + " /models/m/1/model.plan",
        failure.unreadable(Optional.of(HERE), List.of(logged)));
  }

  @Test
  void aPlanWithCodeOfItsOwnNeedsTheParameter() {
    String logged =
        "Cannot deserialize engine with lean runtime since IRuntime::getEngineHostCodeAllowed() is"
            + " false.";
    String message = failure.unreadable(Optional.of(HERE), List.of(logged)).getMessage();
    assertTrue(message.contains("needs the parameter version_compatible: \"true\""), message);
  }

  @Test
  void otherWordsForAnotherVersionAreKnownToo() {
    String logged =
        "Version tag does not match. Note: Current Version: 239, Serialized Engine Version: 238";
    String message = failure.unreadable(Optional.of(OTHER), List.of(logged)).getMessage();
    assertTrue(
        message.contains("built by TensorRT 10.3.0, and the one here is 10.6.0 (" + logged + ")"),
        message);
  }

  @Test
  void anotherPlatformIsSaidToBeOne() {
    String logged =
        "Platform specific tag mismatch detected. TensorRT plan files are only supported"
            + " on the target runtime platform they were created on.";
    String message = failure.unreadable(Optional.of(HERE), List.of(logged)).getMessage();
    assertTrue(message.contains("another operating system or processor"), message);
  }

  @Test
  void aFullDeviceIsAnotherKindOfFailure() {
    NereidException e =
        failure.unreadable(
            Optional.of(HERE),
            List.of(
                "[defaultAllocator.cpp] Requested amount of GPU memory (1024 bytes) could not"));
    assertEquals(StatusCode.RESOURCE_EXHAUSTED, e.code());
    assertTrue(e.getMessage().contains("GPU 0 (NVIDIA H200) is out of memory"), e.getMessage());
  }

  @Test
  void silenceIsSaidToBeSilence() {
    assertMessage(
        StatusCode.FAILED_PRECONDITION,
        "TensorRT 10.6.0 cannot read the plan of TensorRT 10.6.0: it did not say why; if it is of"
            + " another version or GPU, rebuild it: ./nereid build model.onnx -o"
            + " /models/m/1/model.plan",
        failure.unreadable(Optional.of(HERE), List.of()));
  }
}
