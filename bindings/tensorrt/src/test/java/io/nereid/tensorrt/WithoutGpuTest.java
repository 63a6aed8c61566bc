package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machines without a driver: one line at the models that need it, and all else works. */
class WithoutGpuTest {

  private static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  @TempDir private Path root;

  private void model(String name, String config, byte[] plan) throws IOException {
    Path version = Files.createDirectories(root.resolve(name).resolve("1"));
    Files.writeString(version.resolveSibling("config.pbtxt"), config);
    if (plan != null) {
      Files.write(version.resolve("model.plan"), plan);
    }
  }

  @Test
  void modelsOfOtherBackendsAreServed() throws IOException {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isPresent(), "this machine has TensorRT and a GPU");
    model("complete", "platform: \"tensorrt_plan\"\n" + TENSORS, PlanFileTest.header());
    model("told", "backend: \"tensorrt\"\n", PlanFileTest.header());
    model("plain", "backend: \"identity\"\n" + TENSORS, null);
    try (Nereid nereid = Nereid.open(root)) {
      int failed = 0;
      for (Model model : nereid.models()) {
        if (model.failure().isPresent()) {
          String failure = model.failure().get();
          assertTrue(failure.contains(missing.get()), failure);
          assertEquals(1, failure.lines().count(), failure);
          failed++;
        }
      }
      assertEquals(2, failed);
      float[] values = {1, 2, 3, 4};
      try (InferRequest request =
              nereid.model("plain").newRequest().input("IN", Tensor.ofFloats(values, 4));
          InferResponse response = request.infer()) {
        assertEquals(3, response.output("OUT").floatAt(2));
      }
    }
  }

  @Test
  void aMissingLibraryIsToldAgainAndAgain() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isPresent(), "this machine has TensorRT and a GPU");
    NereidException e = assertThrows(NereidException.class, TensorRtLibrary::load);
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertEquals(missing.get(), e.getMessage());
  }
}
