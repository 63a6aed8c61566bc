package io.nereid.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.Model;
import io.nereid.tensor.Tensor;
import org.junit.jupiter.api.Test;

// @start region="file"
@WithModel("classpath:models/model.onnx")
class DigitsTest {

  @Test
  void anImageHasTenScores(Model digits) {
    try (var request = digits.newRequest().input("image", Tensor.ofArray(new float[1][8][8]));
        var response = request.infer()) {
      assertEquals(10, response.output("scores").toFloatArray2d()[0].length);
    }
  }
}
// @end
