package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.global.nvinfer.UnaryOperation;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;

/** Each type that an engine can take and give. */
class TypesGpuTest extends GpuTest {

  private Path sum(DataType type) {
    return plan(builder -> {
      ITensor x = builder.input("x", type, 3);
      builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
    });
  }

  /** A network from an input that must be made FP32 first. */
  private Path floats(DataType type, boolean quantized) {
    return plan(builder -> {
      ITensor x = builder.input("x", type, 3);
      if (quantized) {
        ITensor scale = builder.constant(new float[] {1});
        builder.output("y", builder.network().addDequantize(x, scale, DataType.kFLOAT));
      } else {
        builder.output("y", builder.network().addCast(x, DataType.kFLOAT));
      }
    });
  }

  private void assertAnswers(Path plan, Tensor x, Tensor y) {
    Model model = loadAsTold(plan);
    try (InferRequest request = model.newRequest().input("x", x);
        InferResponse response = request.infer()) {
      assertEquals(y.dataType(), response.output("y").dataType());
      assertArrayEquals(y.shape(), response.output("y").shape());
      assertEquals(
          -1, y.segment().mismatch(response.output("y").segment()), "first byte that differs");
    }
  }

  @Test
  void fp32() {
    assertAnswers(
        sum(DataType.kFLOAT),
        Tensor.ofFloats(new float[] {1, -2.5f, 3}, 3),
        Tensor.ofFloats(new float[] {2, -5, 6}, 3));
  }

  @Test
  void fp16() {
    assertAnswers(
        sum(DataType.kHALF),
        Tensor.ofHalfFloats(io.nereid.types.DataType.FP16, new float[] {1, -2.5f, 3}, 3),
        Tensor.ofHalfFloats(io.nereid.types.DataType.FP16, new float[] {2, -5, 6}, 3));
  }

  @Test
  void bf16() {
    assertAnswers(
        sum(DataType.kBF16),
        Tensor.ofHalfFloats(io.nereid.types.DataType.BF16, new float[] {1, -2.5f, 3}, 3),
        Tensor.ofHalfFloats(io.nereid.types.DataType.BF16, new float[] {2, -5, 6}, 3));
  }

  @Test
  void int32() {
    assertAnswers(
        sum(DataType.kINT32),
        Tensor.ofInts(new int[] {1, -2, 1 << 29}, 3),
        Tensor.ofInts(new int[] {2, -4, 1 << 30}, 3));
  }

  @Test
  void int64() {
    assertAnswers(
        sum(DataType.kINT64),
        Tensor.ofLongs(new long[] {1, -2, 1L << 40}, 3),
        Tensor.ofLongs(new long[] {2, -4, 1L << 41}, 3));
  }

  @Test
  void bool() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kBOOL, 3);
          builder.output("y", builder.network().addUnary(x, UnaryOperation.kNOT));
        });
    assertAnswers(
        plan,
        Tensor.ofBooleans(new boolean[] {true, false, true}, 3),
        Tensor.ofBooleans(new boolean[] {false, true, false}, 3));
  }

  @Test
  void uint8() {
    assertAnswers(
        floats(DataType.kUINT8, false),
        bytes(io.nereid.types.DataType.UINT8, 0, 7, 255),
        Tensor.ofFloats(new float[] {0, 7, 255}, 3));
  }

  @Test
  void int8() {
    assertAnswers(
        floats(DataType.kINT8, true),
        bytes(io.nereid.types.DataType.INT8, 0, -7, 127),
        Tensor.ofFloats(new float[] {0, -7, 127}, 3));
  }

  /** E4M3: 0x38 is 1, 0xC0 is -2, 0x30 is 0.5. */
  @Test
  void fp8IsServedByteForByte() {
    assertAnswers(
        floats(DataType.kFP8, true),
        bytes(io.nereid.types.DataType.UINT8, 0x38, 0xC0, 0x30),
        Tensor.ofFloats(new float[] {1, -2, 0.5f}, 3));
  }

  private static Tensor bytes(io.nereid.types.DataType type, int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return Tensor.of(type, MemorySegment.ofArray(bytes), bytes.length);
  }
}
