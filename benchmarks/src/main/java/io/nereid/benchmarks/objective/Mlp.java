package io.nereid.benchmarks.objective;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Writes an ONNX model of dense layers, whose weights are many: a batch of several rows takes
 * little more time than one row, because the weights are read once for all.
 */
final class Mlp {

  static final String INPUT = "x";
  private static final String OUTPUT = "y";

  // Of ONNX' messages, the numbers of the fields that are written.
  private static final int MODEL_IR_VERSION = 1;
  private static final int MODEL_GRAPH = 7;
  private static final int MODEL_OPSET = 8;
  private static final int OPSET_VERSION = 2;
  private static final int GRAPH_NODE = 1;
  private static final int GRAPH_NAME = 2;
  private static final int GRAPH_INITIALIZER = 5;
  private static final int GRAPH_INPUT = 11;
  private static final int GRAPH_OUTPUT = 12;
  private static final int NODE_INPUT = 1;
  private static final int NODE_OUTPUT = 2;
  private static final int NODE_TYPE = 4;
  private static final int TENSOR_DIMS = 1;
  private static final int TENSOR_TYPE = 2;
  private static final int TENSOR_NAME = 8;
  private static final int TENSOR_DATA = 9;
  private static final int FLOAT = 1;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private Mlp() {}

  /** So many layers, each from {@code width} values to as many. */
  static byte[] onnx(int width, int layers) {
    Mlp graph = new Mlp();
    String last = INPUT;
    for (int i = 0; i < layers; i++) {
      String weights = "w" + i;
      String sum = "s" + i;
      String out = i == layers - 1 ? OUTPUT : "h" + i;
      graph.bytes(GRAPH_NODE, node("MatMul", sum, last, weights));
      graph.bytes(GRAPH_NODE, node("Relu", out, sum));
      graph.bytes(GRAPH_INITIALIZER, weights(weights, width, i));
      last = out;
    }
    graph.text(GRAPH_NAME, "mlp");
    graph.bytes(GRAPH_INPUT, value(INPUT, width));
    graph.bytes(GRAPH_OUTPUT, value(OUTPUT, width));
    Mlp model = new Mlp();
    model.number(MODEL_IR_VERSION, 8);
    model.bytes(MODEL_GRAPH, graph.bytes.toByteArray());
    Mlp opset = new Mlp();
    opset.number(OPSET_VERSION, 13);
    model.bytes(MODEL_OPSET, opset.bytes.toByteArray());
    return model.bytes.toByteArray();
  }

  private static byte[] node(String type, String output, String... inputs) {
    Mlp node = new Mlp();
    for (String input : inputs) {
      node.text(NODE_INPUT, input);
    }
    node.text(NODE_OUTPUT, output);
    node.text(NODE_TYPE, type);
    return node.bytes.toByteArray();
  }

  private static byte[] weights(String name, int width, int seed) {
    ByteBuffer data = ByteBuffer.allocate(width * width * Float.BYTES);
    data.order(ByteOrder.LITTLE_ENDIAN);
    SplittableRandom random = new SplittableRandom(seed);
    while (data.hasRemaining()) {
      data.putFloat((float) ((random.nextDouble() - 0.5) / Math.sqrt(width)));
    }
    Mlp tensor = new Mlp();
    tensor.number(TENSOR_DIMS, width);
    tensor.number(TENSOR_DIMS, width);
    tensor.number(TENSOR_TYPE, FLOAT);
    tensor.text(TENSOR_NAME, name);
    tensor.bytes(TENSOR_DATA, data.array());
    return tensor.bytes.toByteArray();
  }

  /** A tensor of any number of rows: its name, and its type with a shape of two dimensions. */
  private static byte[] value(String name, int width) {
    Mlp rows = new Mlp();
    rows.text(2, "rows");
    Mlp columns = new Mlp();
    columns.number(1, width);
    Mlp shape = new Mlp();
    shape.bytes(1, rows.bytes.toByteArray());
    shape.bytes(1, columns.bytes.toByteArray());
    Mlp tensor = new Mlp();
    tensor.number(1, FLOAT);
    tensor.bytes(2, shape.bytes.toByteArray());
    Mlp type = new Mlp();
    type.bytes(1, tensor.bytes.toByteArray());
    Mlp value = new Mlp();
    value.text(1, name);
    value.bytes(2, type.bytes.toByteArray());
    return value.bytes.toByteArray();
  }

  // ---- Protobuf's wire format ------------------------------------------------------------------

  private void number(int field, long value) {
    varint((long) field << 3);
    varint(value);
  }

  private void text(int field, String value) {
    bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  private void bytes(int field, byte[] value) {
    varint((long) field << 3 | 2);
    varint(value.length);
    bytes.writeBytes(value);
  }

  private void varint(long value) {
    long left = value;
    while (left >= 0x80) {
      bytes.write((int) (left & 0x7f | 0x80));
      left >>>= 7;
    }
    bytes.write((int) left);
  }
}
