package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ConfigTextTest {

  @Test
  void batchesLoseTheirDimension() {
    var signature =
        new ModelSignature(
            List.of(TensorSpec.of("data", DataType.FP16, -1, 3, -1)),
            List.of(TensorSpec.of("scores", DataType.FP32, -1, 10)),
            32);
    assertEquals(
        """
        name: "resnet"
        platform: "tensorrt_plan"
        max_batch_size: 32
        input {
          name: "data"
          data_type: TYPE_FP16
          dims: [ 3, -1 ]
        }
        output {
          name: "scores"
          data_type: TYPE_FP32
          dims: [ 10 ]
        }
        dynamic_batching { }
        """,
        ConfigText.of("resnet", signature));
  }

  @Test
  void withoutABatchAllDimensionsStay() {
    var signature =
        new ModelSignature(
            List.of(TensorSpec.of("a", DataType.INT64, 2, 8)),
            List.of(TensorSpec.of("b", DataType.BOOL, 1, -1)),
            0);
    String text = ConfigText.of("m", signature);
    assertTrue(text.contains("max_batch_size: 0\n"), text);
    assertTrue(text.contains("dims: [ 2, 8 ]"), text);
    assertTrue(text.contains("dims: [ 1, -1 ]"), text);
    assertTrue(text.contains("TYPE_INT64"), text);
    assertTrue(text.endsWith("}\n") && !text.contains("dynamic_batching"), text);
  }

  @Test
  void scalarsAreReshaped() {
    var signature =
        new ModelSignature(
            List.of(TensorSpec.of("a", DataType.FP32, -1)),
            List.of(TensorSpec.of("b", DataType.FP32, -1, 2)),
            4);
    String text = ConfigText.of("m", signature);
    assertTrue(text.contains("dims: [ 1 ]\n  reshape { shape: [ ] }\n"), text);
  }

  @Test
  void namesAreQuoted() {
    var signature =
        new ModelSignature(List.of(TensorSpec.of("a\"b\\c\u00e9", DataType.FP32, 1)), List.of(), 0);
    assertTrue(
        ConfigText.of("m", signature).contains("name: \"a\\\"b\\\\c\\303\\251\""),
        ConfigText.of("m", signature));
  }
}
