package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** ONNX Runtime comes from the jar on the class path, without being told where it is. */
class OnnxruntimeTest extends RuntimeTest {

  private static ModelSpec.Builder simple() {
    return ModelSpec.builder("simple")
        .backend("onnxruntime")
        .parameter("model_path", bundled("simple/1/model.onnx").toString())
        .maxBatchSize(8)
        .input("INPUT0", DataType.INT32, 16)
        .input("INPUT1", DataType.INT32, 16)
        .output("OUTPUT0", DataType.INT32, 16)
        .output("OUTPUT1", DataType.INT32, 16);
  }

  /** A file of the bundled models; tests run in their module's directory or in the project's. */
  private static Path bundled(String file) {
    Path models = Path.of("examples", "models");
    Path inProject = models.toFile().isDirectory() ? models : Path.of("..", "..").resolve(models);
    return inProject.resolve(file).toAbsolutePath().normalize();
  }

  @Test
  void theBundledModelAddsAndSubtracts() {
    Model model = nereid.load(simple().build());
    int[] a = new int[16];
    int[] b = new int[16];
    int[] sum = new int[16];
    int[] difference = new int[16];
    for (int i = 0; i < 16; i++) {
      a[i] = i * 1000;
      b[i] = 7 - i;
      sum[i] = a[i] + b[i];
      difference[i] = a[i] - b[i];
    }
    try (var request =
            model
                .newRequest()
                .input("INPUT0", Tensor.ofInts(a, 1, 16))
                .input("INPUT1", Tensor.ofInts(b, 1, 16));
        var response = request.infer()) {
      assertArrayEquals(sum, response.output("OUTPUT0").toIntArray());
      assertArrayEquals(difference, response.output("OUTPUT1").toIntArray());
    }
  }

  @Test
  void aLibraryThatIsNotThereIsNamed() {
    try (Nereid other =
        Nereid.create(options().onnxruntimePath(Path.of("no", "libonnxruntime.so")).build())) {
      NereidException e = assertFails(StatusCode.NOT_FOUND, () -> other.load(simple().build()));
      assertTrue(e.getMessage().contains("libonnxruntime.so"), e.getMessage());
      assertEquals(1, other.models().size());
    }
  }
}
