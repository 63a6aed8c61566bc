package io.nereid.junit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@WithModel
class FakeModelTest {

  private static final float[] ROW = {1, 2, 3, 4};

  private static ModelSpec.Builder spec(String name) {
    return ModelSpec.builder(name)
        .input("x", DataType.FP32, 4)
        .output("y", DataType.FP32, 4)
        .maxBatchSize(8);
  }

  // @start region="fake"
  @Test
  void aFunctionIsAModel(Nereid nereid) {
    FakeModel echo = FakeModel.of(inputs -> Map.of("y", inputs.get("x")));
    var model =
        nereid.load(
            ModelSpec.builder("echo")
                .input("x", DataType.FP32, 4)
                .output("y", DataType.FP32, 4)
                .maxBatchSize(8)
                .backend(echo)
                .build());
    try (var request = model.newRequest().input("x", Tensor.ofFloats(ROW, 1, 4));
        var response = request.infer()) {
      assertArrayEquals(ROW, response.output("y").toFloatArray());
    }
    assertEquals(1, echo.requestCount());
  }

  // @end

  @Test
  void itsExceptionFailsTheRequest(Nereid nereid) {
    FakeModel broken =
        FakeModel.of(inputs -> {
          throw new IllegalStateException("out of order");
        });
    var model = nereid.load(spec("broken").backend(broken).build());
    try (var request = model.newRequest().input("x", Tensor.ofFloats(ROW, 1, 4))) {
      NereidException e = assertThrows(NereidException.class, request::infer);
      assertTrue(e.getMessage().contains("out of order"), e::getMessage);
    }
    assertEquals(List.of(1), broken.batches());
  }
}
