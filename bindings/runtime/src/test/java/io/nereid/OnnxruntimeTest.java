package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.Arrays;
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

  private static int divide(int dividend, int divisor) {
    return dividend / divisor;
  }

  /** Java's own divisions by zero come as the same signal, and stay Java's. */
  @Test
  void aDivisionWithoutAResultFailsItsRequestAndJavasGoOnAsEver() {
    ModelSpec.Builder modulo =
        ModelSpec.builder("modulo")
            .backend("onnxruntime")
            .parameter("model_path", inProject("native/test/models/modulo.onnx").toString())
            .maxBatchSize(8)
            .input("INPUT0", DataType.INT32, -1)
            .input("INPUT1", DataType.INT32, -1)
            .output("OUTPUT0", DataType.INT32, -1);
    Model model = nereid.load(modulo.build());
    for (int i = 0; i < 20_000; i++) { // also compiled, where the processor finds the zero
      assertThrows(ArithmeticException.class, () -> divide(1, 0));
      if (i % 1000 == 0) {
        for (int divisor : new int[] {0, -1}) {
          String message = "integer division by zero or overflow in model 'modulo'";
          assertFails(
              StatusCode.INVALID_ARGUMENT,
              message,
              () -> remainders(model, new int[] {7, Integer.MIN_VALUE}, divisor));
        }
        assertArrayEquals(new int[] {1, 2}, remainders(model, new int[] {7, 8}, 3));
      }
    }
  }

  private static int[] remainders(Model model, int[] dividends, int divisor) {
    int[] divisors = new int[dividends.length];
    Arrays.fill(divisors, divisor);
    try (var request =
            model
                .newRequest()
                .input("INPUT0", Tensor.ofInts(dividends, 1, dividends.length))
                .input("INPUT1", Tensor.ofInts(divisors, 1, divisors.length));
        var response = request.infer()) {
      return response.output("OUTPUT0").toIntArray();
    }
  }

  /** A file of the bundled models. */
  private static Path bundled(String file) {
    return inProject("examples/models/" + file);
  }

  /** A file of the project; tests run in their module's directory or in the project's. */
  private static Path inProject(String file) {
    Path here = Path.of(file);
    return (here.toFile().exists() ? here : Path.of("..", "..").resolve(here))
        .toAbsolutePath()
        .normalize();
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
