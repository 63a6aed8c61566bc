package io.nereid.gpu;

import io.nereid.gpu.Workbench.Plan;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.OnnxFile;
import io.nereid.tensorrt.builder.Precision;
import io.nereid.tensorrt.builder.ShapeRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Says what several checks build. */
final class Plans {

  static final String MLP = "mlp";
  static final String DEEP = "mlp_deep";
  static final String CONVOLUTIONS = "convolutions";
  static final String HALF = "convolutions_fp16";
  static final String RESNET = "resnet50";

  static final int RESNET_ROWS = 32;
  private static final int RESNET_EDGE = 224;

  // A processor can compute networks of this size in time.
  private static final int REHEARSED_ROWS = 2;
  private static final int REHEARSED_EDGE = 32;

  static final int DEEP_ROWS = 8;

  /** TensorRT 11 computes in the types of the network, and in no others. */
  static final boolean TYPED = TensorRtMajor.HERE.isAlwaysStronglyTyped();

  private static final class Graphs {
    private static final Graph MLP = Graph.mlp(64, 256, 3, 10);
    private static final Graph DEEP = Graph.mlp(64, 128, 24, 8);
    private static final Graph CONVOLUTIONS = Graph.smallConvolutions();
    private static final Graph RESNET =
        Graph.resNet50(true, Workbench.isRehearsal() ? REHEARSED_EDGE : RESNET_EDGE);
  }

  private Plans() {}

  static Graph graph(String name) {
    return switch (name) {
      case MLP -> Graphs.MLP;
      case DEEP -> Graphs.DEEP;
      case CONVOLUTIONS, HALF -> Graphs.CONVOLUTIONS;
      case RESNET -> Graphs.RESNET;
      default -> throw new IllegalArgumentException("no such graph: " + name);
    };
  }

  /** FP32 in full, from Java, with two optimisation profiles: up to 4 rows, and up to 64. */
  static Plan mlp() {
    List<ShapeRange> shapes =
        List.of(ShapeRange.parse("data=1x64:1x64:4x64"), ShapeRange.parse("data=1x64:16x64:64x64"));
    return new Plan(MLP, new GraphNetwork(Graphs.MLP, false), shapes, full());
  }

  /** Many small layers in FP16, whose launches cost more than they do. */
  static Plan deep() {
    return Plan.of(DEEP, Graphs.DEEP, new GraphNetwork(Graphs.DEEP, TYPED), DEEP_ROWS, half());
  }

  /** FP32 in full, from a file of ONNX. */
  static Plan convolutions(Workbench bench) throws IOException {
    return Plan.of(CONVOLUTIONS, Graphs.CONVOLUTIONS, new OnnxFile(onnxFile(bench)), 16, full());
  }

  /** The same in FP16. */
  static Plan half(Workbench bench) throws IOException {
    Path file = bench.directory().resolve("convolutions_fp16.onnx");
    GraphOnnx.write(Graphs.CONVOLUTIONS, file, TYPED);
    return Plan.of(HALF, Graphs.CONVOLUTIONS, new OnnxFile(file), 16, half());
  }

  /** ResNet-50 in FP16, from Java. Images come as bytes. */
  static Plan resNet() {
    int rows = Workbench.isRehearsal() ? REHEARSED_ROWS : RESNET_ROWS;
    return Plan.of(RESNET, Graphs.RESNET, new GraphNetwork(Graphs.RESNET, TYPED), rows, half());
  }

  static Path onnxFile(Workbench bench) throws IOException {
    Path file = bench.directory().resolve("convolutions.onnx");
    if (!Files.exists(file)) {
      GraphOnnx.write(Graphs.CONVOLUTIONS, file);
    }
    return file;
  }

  private static BuildOptions.Builder full() {
    return BuildOptions.builder().tf32(false);
  }

  private static BuildOptions.Builder half() {
    BuildOptions.Builder options = BuildOptions.builder();
    return TYPED ? options : options.precision(Precision.FP16);
  }
}
