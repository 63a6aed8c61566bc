package io.nereid.gpu;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes graphs as ONNX files; field numbers are those of the published onnx.proto. */
final class GraphOnnx {

  private static final int IR_VERSION = 8;
  private static final int OPSET = 17;

  // TensorProto.DataType and AttributeProto.AttributeType.
  private static final int FLOAT = 1;
  private static final int UINT8 = 2;
  private static final int FLOAT16 = 10;
  private static final int ATTRIBUTE_INT = 2;
  private static final int ATTRIBUTE_INTS = 7;

  /** Writes a message's fields. */
  @FunctionalInterface
  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  /** The type that all layers compute in. */
  private final int type;

  private GraphOnnx(int type) {
    this.type = type;
  }

  /** Writes one in FP32. */
  static void write(Graph graph, Path file) throws IOException {
    write(graph, file, false);
  }

  /** Writes one whose layers compute in FP32 or in FP16; its output is of FP32. */
  static void write(Graph graph, Path file, boolean half) throws IOException {
    GraphOnnx writer = new GraphOnnx(half ? FLOAT16 : FLOAT);
    try (OutputStream stream = Files.newOutputStream(file)) {
      CodedOutputStream out = CodedOutputStream.newInstance(stream);
      out.writeInt64(1, IR_VERSION);
      out.writeString(2, "nereid");
      out.writeBytes(7, message(graphOut -> writer.graph(graph, graphOut)));
      out.writeBytes(8, message(opset -> opset.writeInt64(2, OPSET)));
      out.flush();
    }
  }

  private void graph(Graph graph, CodedOutputStream out) throws IOException {
    List<Graph.Node> nodes = graph.nodes();
    if (!graph.bytes()) {
      op(out, "Cast", List.of(Graph.INPUT), name(-1), attribute("to", type));
    }
    for (int i = 0; i < nodes.size(); i++) {
      int from = nodes.get(i).from();
      String input = from < 0 && graph.bytes() ? Graph.INPUT : name(from);
      node(out, nodes.get(i), i, input, name(i));
    }
    String last = name(nodes.size() - 1);
    op(out, "Cast", List.of(last), Graph.OUTPUT, attribute("to", FLOAT));
    out.writeString(2, "graph");
    out.writeBytes(
        11,
        message(value -> value(value, Graph.INPUT, graph.bytes() ? UINT8 : FLOAT, graph.input())));
    out.writeBytes(
        12, message(value -> value(value, Graph.OUTPUT, FLOAT, List.of(graph.outputElements()))));
  }

  private static String name(int node) {
    return node < 0 ? "typed" : "n" + node;
  }

  private void node(CodedOutputStream out, Graph.Node node, int index, String from, String to)
      throws IOException {
    String w = "w" + index;
    String b = "b" + index;
    switch (node) {
      case Graph.Scale scale -> {
        tensor(out, w, List.of(), scale.scale());
        tensor(out, b, List.of(), scale.shift());
        op(out, "Cast", List.of(from), to + "_cast", attribute("to", type));
        op(out, "Mul", List.of(to + "_cast", w), to + "_mul");
        op(out, "Add", List.of(to + "_mul", b), to);
      }
      case Graph.Conv conv -> {
        int k = conv.kernel();
        tensor(out, w, List.of(conv.channels(), conv.inChannels(), k, k), conv.weights());
        tensor(out, b, List.of(conv.channels()), conv.bias());
        op(out, "Conv", List.of(from, w, b), to, window(k, conv.stride(), conv.padding()));
      }
      case Graph.Relu relu -> op(out, "Relu", List.of(from), to);
      case Graph.Add add -> op(out, "Add", List.of(from, name(add.other())), to);
      case Graph.MaxPool pool ->
          op(
              out,
              "MaxPool",
              List.of(from),
              to,
              window(pool.kernel(), pool.stride(), pool.padding()));
      case Graph.Average average -> {
        op(out, "GlobalAveragePool", List.of(from), to + "_mean");
        op(out, "Flatten", List.of(to + "_mean"), to);
      }
      case Graph.Dense dense -> {
        tensor(out, w, List.of(dense.outputs(), dense.inputs()), dense.weights());
        tensor(out, b, List.of(dense.outputs()), dense.bias());
        op(out, "Gemm", List.of(from, w, b), to, attribute("transB", 1));
      }
      case Graph.SoftMax softMax -> op(out, "Softmax", List.of(from), to, attribute("axis", 1));
    }
  }

  private static void op(
      CodedOutputStream out, String type, List<String> inputs, String output, Fields... attributes)
      throws IOException {
    out.writeBytes(
        1,
        message(node -> {
          for (String input : inputs) {
            node.writeString(1, input);
          }
          node.writeString(2, output);
          node.writeString(3, output);
          node.writeString(4, type);
          for (Fields attribute : attributes) {
            attribute.write(node);
          }
        }));
  }

  private static Fields attribute(String name, long value) {
    return node ->
        node.writeBytes(
            5,
            message(attribute -> {
              attribute.writeString(1, name);
              attribute.writeInt64(3, value);
              attribute.writeEnum(20, ATTRIBUTE_INT);
            }));
  }

  private static Fields[] window(int kernel, int stride, int padding) {
    return new Fields[] {
      attribute("kernel_shape", List.of(kernel, kernel)),
      attribute("strides", List.of(stride, stride)),
      attribute("pads", List.of(padding, padding, padding, padding))
    };
  }

  private static Fields attribute(String name, List<Integer> values) {
    return node ->
        node.writeBytes(
            5,
            message(attribute -> {
              attribute.writeString(1, name);
              for (int value : values) {
                attribute.writeInt64(8, value);
              }
              attribute.writeEnum(20, ATTRIBUTE_INTS);
            }));
  }

  private void tensor(CodedOutputStream out, String name, List<Integer> dims, float... values)
      throws IOException {
    int size = type == FLOAT16 ? Short.BYTES : Float.BYTES;
    ByteBuffer raw = ByteBuffer.allocate(size * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      if (type == FLOAT16) {
        raw.putShort(Float.floatToFloat16(value));
      } else {
        raw.putFloat(value);
      }
    }
    raw.flip();
    out.writeBytes(
        5,
        message(tensor -> {
          for (int dim : dims) {
            tensor.writeInt64(1, dim);
          }
          tensor.writeInt32(2, type);
          tensor.writeString(8, name);
          tensor.writeBytes(9, ByteString.copyFrom(raw));
        }));
  }

  /** An input or output: any number of rows of the given shape. */
  private static void value(CodedOutputStream out, String name, int type, List<Integer> row)
      throws IOException {
    ByteString shape =
        message(dims -> {
          dims.writeBytes(1, message(dim -> dim.writeString(2, "rows")));
          for (int size : row) {
            dims.writeBytes(1, message(dim -> dim.writeInt64(1, size)));
          }
        });
    out.writeString(1, name);
    out.writeBytes(
        2,
        message(tensorType ->
            tensorType.writeBytes(
                1,
                message(tensor -> {
                  tensor.writeInt32(1, type);
                  tensor.writeBytes(2, shape);
                }))));
  }

  private static ByteString message(Fields fields) throws IOException {
    ByteString.Output bytes = ByteString.newOutput();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    fields.write(out);
    out.flush();
    return bytes.toByteString();
  }
}
