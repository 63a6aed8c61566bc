package io.nereid.gpu;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A network with random weights, out of few kinds of nodes. The same graph becomes a network of
 * TensorRT ({@link GraphNetwork}), a file of ONNX ({@link GraphOnnx}), and an evaluation in double
 * precision ({@link GraphReference}): what they compute has to agree.
 *
 * @param input the shape of one row
 * @param bytes whether the input has the type UINT8, as images do, instead of FP32
 * @param nodes in the order in which they are computed; the last one is the output
 */
record Graph(List<Integer> input, boolean bytes, List<Node> nodes) {

  static final String INPUT = "data";
  static final String OUTPUT = "scores";

  Graph {
    input = List.copyOf(input);
    nodes = List.copyOf(nodes);
  }

  /** A step; {@code from} counts nodes, -1 is the input. */
  sealed interface Node {
    int from();
  }

  /** Bytes from 0 to 255 to numbers around 0. */
  record Scale(int from, float scale, float shift) implements Node {}

  /** Weights by output channel, input channel, row, column. */
  record Conv(
      int from,
      int inChannels,
      int channels,
      int kernel,
      int stride,
      int padding,
      float[] weights,
      float[] bias)
      implements Node {}

  record Relu(int from) implements Node {}

  record Add(int from, int other) implements Node {}

  record MaxPool(int from, int kernel, int stride, int padding) implements Node {}

  /** The mean of each channel; what comes out has one dimension. */
  record Average(int from) implements Node {}

  /** Weights by output, input. */
  record Dense(int from, int inputs, int outputs, float[] weights, float[] bias) implements Node {}

  record SoftMax(int from) implements Node {}

  int inputElements() {
    return input.stream().reduce(1, (a, b) -> a * b);
  }

  int outputElements() {
    for (Node node : nodes.reversed()) {
      if (node instanceof Dense dense) {
        return dense.outputs();
      }
    }
    throw new IllegalStateException("expected a graph that ends in a dense layer");
  }

  /** Dense layers of one width with ReLU between them. */
  static Graph mlp(int inputs, int width, int layers, int outputs) {
    Maker maker = new Maker(11);
    int at = -1;
    int size = inputs;
    for (int i = 0; i < layers; i++) {
      at = maker.relu(maker.dense(at, size, width));
      size = width;
    }
    maker.dense(at, size, outputs);
    return new Graph(List.of(inputs), false, maker.nodes);
  }

  /** Three convolutions, for quick checks. */
  static Graph smallConvolutions() {
    Maker maker = new Maker(12);
    int a = maker.relu(maker.conv(-1, 3, 16, 3, 1, 1));
    int b = maker.relu(maker.conv(a, 16, 16, 3, 1, 1));
    int c = maker.relu(maker.add(maker.conv(b, 16, 16, 1, 1, 0), a));
    int d = maker.average(maker.pool(c, 3, 2, 1));
    maker.softMax(maker.dense(d, 16, 10));
    return new Graph(List.of(3, 32, 32), false, maker.nodes);
  }

  /** The layers of ResNet-50, its batch normalisations folded into the convolutions. */
  static Graph resNet50(boolean bytes, int edge) {
    Maker maker = new Maker(13);
    int at = bytes ? maker.scale(-1, 1 / 64f, -2) : -1;
    at = maker.relu(maker.conv(at, 3, 64, 7, 2, 3));
    at = maker.pool(at, 3, 2, 1);
    int channels = 64;
    int[] blocks = {3, 4, 6, 3};
    for (int stage = 0; stage < blocks.length; stage++) {
      int width = 64 << stage;
      for (int block = 0; block < blocks[stage]; block++) {
        int stride = block == 0 && stage > 0 ? 2 : 1;
        at = bottleneck(maker, at, channels, width, stride);
        channels = 4 * width;
      }
    }
    maker.dense(maker.average(at), channels, 1000);
    return new Graph(List.of(3, edge, edge), bytes, maker.nodes);
  }

  private static int bottleneck(Maker maker, int from, int channels, int width, int stride) {
    int a = maker.relu(maker.conv(from, channels, width, 1, 1, 0));
    int b = maker.relu(maker.conv(a, width, width, 3, stride, 1));
    int c = maker.conv(b, width, 4 * width, 1, 1, 0);
    int shortcut =
        stride == 1 && channels == 4 * width
            ? from
            : maker.conv(from, channels, 4 * width, 1, stride, 0);
    return maker.relu(maker.add(c, shortcut));
  }

  /** Adds nodes, whose weights keep the size of what goes through them about the same. */
  private static final class Maker {
    private final List<Node> nodes = new ArrayList<>();
    private final RandomGenerator random;

    Maker(long seed) {
      random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    int scale(int from, float scale, float shift) {
      return with(new Scale(from, scale, shift));
    }

    int conv(int from, int inChannels, int channels, int kernel, int stride, int padding) {
      int fan = inChannels * kernel * kernel;
      float[] weights = weights(channels * fan, fan);
      return with(
          new Conv(from, inChannels, channels, kernel, stride, padding, weights, bias(channels)));
    }

    int dense(int from, int inputs, int outputs) {
      return with(
          new Dense(from, inputs, outputs, weights(inputs * outputs, inputs), bias(outputs)));
    }

    int relu(int from) {
      return with(new Relu(from));
    }

    int add(int from, int other) {
      return with(new Add(from, other));
    }

    int pool(int from, int kernel, int stride, int padding) {
      return with(new MaxPool(from, kernel, stride, padding));
    }

    int average(int from) {
      return with(new Average(from));
    }

    int softMax(int from) {
      return with(new SoftMax(from));
    }

    private int with(Node node) {
      nodes.add(node);
      return nodes.size() - 1;
    }

    private float[] weights(int count, int fan) {
      // A little under 2 / fan: sums of branches grow.
      float deviation = (float) Math.sqrt(1.4 / fan);
      float[] weights = new float[count];
      for (int i = 0; i < count; i++) {
        weights[i] = (float) random.nextGaussian() * deviation;
      }
      return weights;
    }

    private float[] bias(int count) {
      float[] bias = new float[count];
      for (int i = 0; i < count; i++) {
        bias[i] = (float) random.nextGaussian() * 0.1f;
      }
      return bias;
    }
  }
}
