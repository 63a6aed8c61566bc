package io.nereid.stores;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Writes ONNX files with much in them; field numbers are those of the published onnx.proto. */
final class OnnxFile {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private OnnxFile() {}

  /** Writes one that multiplies a row by square matrices, none of which is like another. */
  static void write(Path file, int matrices, int side) throws IOException {
    OnnxFile nodes = new OnnxFile();
    byte[][] heads = new byte[matrices][];
    long size = 0;
    for (int i = 0; i < matrices; i++) {
      String output = i + 1 == matrices ? "y" : "x" + (i + 1);
      OnnxFile node = new OnnxFile().text(1, i == 0 ? "x" : "x" + i).text(1, "w" + i);
      nodes.message(1, node.text(2, output).text(4, "MatMul"));
      OnnxFile tensor = new OnnxFile().number(1, side).number(1, side).number(2, 1);
      tensor.text(8, "w" + i).varint(9 << 3 | 2).varint(4L * side * side);
      OnnxFile head = new OnnxFile().varint(5 << 3 | 2);
      head.varint(tensor.bytes.size() + 4L * side * side).bytes.writeBytes(tensor.bytes());
      heads[i] = head.bytes();
      size += heads[i].length + 4L * side * side;
    }
    nodes.text(2, "graph").message(11, row("x", side)).message(12, row("y", side));
    OnnxFile start = new OnnxFile().number(1, 8).varint(7 << 3 | 2);
    start.varint(size + nodes.bytes.size()).bytes.writeBytes(nodes.bytes());
    ByteBuffer line = ByteBuffer.allocate(4 * side).order(ByteOrder.LITTLE_ENDIAN);
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write(start.bytes());
      for (int i = 0; i < matrices; i++) {
        out.write(heads[i]);
        for (int j = 0; j < side; j++) {
          Arrays.fill(line.array(), (byte) 0);
          line.putFloat(4 * j, scale(i));
          out.write(line.array());
        }
      }
      out.write(new OnnxFile().message(8, new OnnxFile().text(1, "").number(2, 17)).bytes());
    }
  }

  /** The factor that a matrix has for all elements of a row. */
  static float scale(int matrix) {
    return 1 + matrix / 1024f;
  }

  private static OnnxFile row(String name, int side) {
    OnnxFile shape = new OnnxFile();
    shape.message(1, new OnnxFile().number(1, 1)).message(1, new OnnxFile().number(1, side));
    OnnxFile type = new OnnxFile().message(1, new OnnxFile().number(1, 1).message(2, shape));
    return new OnnxFile().text(1, name).message(2, type);
  }

  private byte[] bytes() {
    return bytes.toByteArray();
  }

  private OnnxFile varint(long value) {
    long left = value;
    for (; left > 127; left >>>= 7) {
      bytes.write((int) (left & 127 | 128));
    }
    bytes.write((int) left);
    return this;
  }

  private OnnxFile number(int field, long value) {
    return varint(field << 3).varint(value);
  }

  private OnnxFile text(int field, String text) {
    varint(field << 3 | 2).varint(text.length()).bytes.writeBytes(Fixture.bytes(text));
    return this;
  }

  private OnnxFile message(int field, OnnxFile message) {
    varint(field << 3 | 2).varint(message.bytes.size()).bytes.writeBytes(message.bytes());
    return this;
  }
}
