package io.nereid.gpu;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.gpu.Workbench.Plan;
import io.nereid.tensor.Tensor;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.NetworkSource;
import io.nereid.tensorrt.builder.ShapeRange;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ITensor;

/**
 * Checks that every type of numbers goes in and comes out, and shapes that only the data decide.
 */
final class TypeChecks {

  private static final int WIDTH = 4;

  private static final Map<DataType, nvinfer.DataType> TYPES =
      new TreeMap<>(
          Map.of(
              DataType.FP32, nvinfer.DataType.kFLOAT,
              DataType.FP16, nvinfer.DataType.kHALF,
              DataType.BF16, nvinfer.DataType.kBF16,
              DataType.INT32, nvinfer.DataType.kINT32,
              DataType.INT64, nvinfer.DataType.kINT64,
              DataType.UINT8, nvinfer.DataType.kUINT8,
              DataType.BOOL, nvinfer.DataType.kBOOL));

  private TypeChecks() {}

  static void identities(Workbench bench, VerifyReport report) throws Exception {
    for (Map.Entry<DataType, nvinfer.DataType> type : TYPES.entrySet()) {
      String name = "identity_" + type.getKey().name().toLowerCase(Locale.ROOT);
      Plan plan =
          new Plan(
              name,
              identity(type.getValue()),
              List.of(ShapeRange.parse("data=1x4:2x4:8x4")),
              BuildOptions.builder().stronglyTyped(true).optimizationLevel(0));
      try {
        bench.build(plan, "");
        try (Nereid nereid = bench.serve(name)) {
          echoes(report, nereid.model(name), type.getKey());
        }
      } catch (RuntimeException e) {
        // The other types are looked at all the same.
        report.fail(
            type.getKey().name(), String.valueOf(e.getMessage()), "the bytes that were sent");
      }
    }
  }

  private static NetworkSource identity(nvinfer.DataType type) {
    return (network, scope) -> {
      Dims64 dims = new Dims64().nbDims(2).d(0, -1).d(1, WIDTH);
      ITensor input = network.addInput("data", type, dims);
      // TensorRT takes and gives bytes only by way of floating-point numbers.
      ITensor middle =
          type == nvinfer.DataType.kUINT8
              ? network.addCast(input, nvinfer.DataType.kFLOAT).getOutput(0)
              : network.addIdentity(input).getOutput(0);
      ITensor output =
          type == nvinfer.DataType.kUINT8
              ? network.addCast(middle, nvinfer.DataType.kUINT8).getOutput(0)
              : middle;
      output.setName("scores");
      network.markOutput(output);
    };
  }

  private static void echoes(VerifyReport report, Model model, DataType type) {
    int rows = 3;
    byte[] sent = new byte[rows * WIDTH * type.byteSize()];
    for (int i = 0; i < sent.length; i++) {
      // Only these bytes are truth values, and none of them is part of a number that is none.
      sent[i] = (byte) (type == DataType.BOOL ? i % 2 : i % 60 + 1);
    }
    try (InferRequest request = model.newRequest()) {
      Tensor input = request.allocateInput("data", rows, WIDTH);
      input.segment().copyFrom(MemorySegment.ofArray(sent));
      try (InferResponse response = request.infer()) {
        byte[] seen = response.output("scores").toByteArray();
        boolean same = Arrays.equals(sent, seen);
        report.verify(
            type.name(), same, same ? "equal" : Arrays.toString(seen), "the bytes that were sent");
      }
    }
  }

  /** The positions of what is not 0: how many there are only the data tell. */
  static void dataDependent(Workbench bench, VerifyReport report) throws Exception {
    Plan plan =
        new Plan(
            "non_zero",
            (network, scope) -> {
              Dims64 dims = new Dims64().nbDims(1).d(0, 8);
              ITensor input = network.addInput("data", nvinfer.DataType.kFLOAT, dims);
              ITensor output = network.addNonZero(input).getOutput(0);
              output.setName("scores");
              network.markOutput(output);
            },
            List.of(),
            BuildOptions.builder());
    bench.build(plan, "");
    try (Nereid nereid = bench.serve("non_zero")) {
      Model model = nereid.model("non_zero");
      positions(report, model, "three of eight", new float[] {0, 1, 0, 0, 2, 0, 0, 3}, 1, 4, 7);
      positions(
          report,
          model,
          "all of eight",
          new float[] {1, 1, 1, 1, 1, 1, 1, 1},
          0,
          1,
          2,
          3,
          4,
          5,
          6,
          7);
      positions(report, model, "none of eight", new float[8]);
    }
  }

  private static void positions(
      VerifyReport report, Model model, String what, float[] values, long... expected) {
    try (InferRequest request = model.newRequest().input("data", Tensor.ofFloats(values, 8));
        InferResponse response = request.infer()) {
      Tensor output = response.output("scores");
      long[] seen = new long[(int) output.elementCount()];
      for (int i = 0; i < seen.length; i++) {
        seen[i] = output.longAt(i);
      }
      report.verify(
          what,
          Arrays.equals(seen, expected) && output.dim(1) == expected.length,
          Arrays.toString(seen) + " as " + Arrays.toString(output.shape()),
          Arrays.toString(expected));
    }
  }
}
