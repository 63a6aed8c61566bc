package io.nereid.gpu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/** Evaluates graphs in double precision on the processor, one row at a time. */
final class GraphReference {

  /** Values by channel, row, column; of what has one dimension, {@code height} and width are 1. */
  private record Values(int channels, int height, int width, double[] of) {}

  private GraphReference() {}

  /** The output for one row of the input; bytes as numbers from 0 to 255. */
  static double[] evaluate(Graph graph, double[] row) {
    List<Integer> dims = graph.input();
    Values input =
        dims.size() == 3
            ? new Values(dims.get(0), dims.get(1), dims.get(2), row)
            : new Values(dims.get(0), 1, 1, row);
    List<Values> done = new ArrayList<>();
    for (Graph.Node node : graph.nodes()) {
      Values from = node.from() < 0 ? input : done.get(node.from());
      done.add(
          switch (node) {
            case Graph.Scale scale -> map(from, x -> x * scale.scale() + scale.shift());
            case Graph.Conv conv -> conv(conv, from);
            case Graph.Relu relu -> map(from, x -> Math.max(x, 0));
            case Graph.Add add -> add(from, add.other() < 0 ? input : done.get(add.other()));
            case Graph.MaxPool pool -> pool(pool, from);
            case Graph.Average average -> average(from);
            case Graph.Dense dense -> dense(dense, from);
            case Graph.SoftMax softMax -> softMax(from);
          });
    }
    return done.getLast().of();
  }

  private static Values map(Values from, DoubleUnaryOperator operator) {
    double[] out = new double[from.of().length];
    for (int i = 0; i < out.length; i++) {
      out[i] = operator.applyAsDouble(from.of()[i]);
    }
    return new Values(from.channels(), from.height(), from.width(), out);
  }

  private static Values add(Values a, Values b) {
    double[] out = new double[a.of().length];
    for (int i = 0; i < out.length; i++) {
      out[i] = a.of()[i] + b.of()[i];
    }
    return new Values(a.channels(), a.height(), a.width(), out);
  }

  private static int outSize(int size, int kernel, int stride, int padding) {
    return (size + 2 * padding - kernel) / stride + 1;
  }

  private static Values conv(Graph.Conv conv, Values from) {
    int height = outSize(from.height(), conv.kernel(), conv.stride(), conv.padding());
    int width = outSize(from.width(), conv.kernel(), conv.stride(), conv.padding());
    double[] out = new double[conv.channels() * height * width];
    IntStream.range(0, conv.channels())
        .parallel()
        .forEach(channel -> convChannel(conv, from, channel, height, width, out));
    return new Values(conv.channels(), height, width, out);
  }

  private static void convChannel(
      Graph.Conv conv, Values from, int channel, int height, int width, double[] out) {
    int kernel = conv.kernel();
    int stride = conv.stride();
    double[] values = from.of();
    int base = channel * height * width;
    Arrays.fill(out, base, base + height * width, conv.bias()[channel]);
    for (int in = 0; in < conv.inChannels(); in++) {
      for (int ky = 0; ky < kernel; ky++) {
        for (int kx = 0; kx < kernel; kx++) {
          double weight =
              conv.weights()[((channel * conv.inChannels() + in) * kernel + ky) * kernel + kx];
          if (kernel == 1 && stride == 1 && conv.padding() == 0) { // one loop is quicker than many
            int plane = in * height * width;
            for (int i = 0; i < height * width; i++) {
              out[base + i] += weight * values[plane + i];
            }
            continue;
          }
          for (int y = 0; y < height; y++) {
            int fromY = y * stride + ky - conv.padding();
            if (fromY < 0 || fromY >= from.height()) {
              continue;
            }
            // Only where the input has a value: a loop without a condition is several times faster.
            int line = (in * from.height() + fromY) * from.width() + kx - conv.padding();
            int first = Math.max(0, Math.ceilDiv(conv.padding() - kx, stride));
            int last =
                Math.min(width - 1, Math.floorDiv(from.width() - 1 + conv.padding() - kx, stride));
            int to = base + y * width;
            for (int x = first; x <= last; x++) {
              out[to + x] += weight * values[line + x * stride];
            }
          }
        }
      }
    }
  }

  private static Values pool(Graph.MaxPool pool, Values from) {
    int height = outSize(from.height(), pool.kernel(), pool.stride(), pool.padding());
    int width = outSize(from.width(), pool.kernel(), pool.stride(), pool.padding());
    double[] out = new double[from.channels() * height * width];
    for (int i = 0; i < out.length; i++) {
      int x = i % width * pool.stride() - pool.padding();
      int y = i / width % height * pool.stride() - pool.padding();
      int plane = i / (width * height) * from.height() * from.width();
      double largest = Double.NEGATIVE_INFINITY;
      for (int at = 0; at < pool.kernel() * pool.kernel(); at++) {
        int fromY = y + at / pool.kernel();
        int fromX = x + at % pool.kernel();
        if (fromY >= 0 && fromY < from.height() && fromX >= 0 && fromX < from.width()) {
          largest = Math.max(largest, from.of()[plane + fromY * from.width() + fromX]);
        }
      }
      out[i] = largest;
    }
    return new Values(from.channels(), height, width, out);
  }

  private static Values average(Values from) {
    int plane = from.height() * from.width();
    double[] out = new double[from.channels()];
    for (int i = 0; i < from.of().length; i++) {
      out[i / plane] += from.of()[i] / plane;
    }
    return new Values(from.channels(), 1, 1, out);
  }

  private static Values dense(Graph.Dense dense, Values from) {
    double[] out = new double[dense.outputs()];
    for (int i = 0; i < out.length; i++) {
      double sum = dense.bias()[i];
      for (int k = 0; k < dense.inputs(); k++) {
        sum += dense.weights()[i * dense.inputs() + k] * from.of()[k];
      }
      out[i] = sum;
    }
    return new Values(out.length, 1, 1, out);
  }

  private static Values softMax(Values from) {
    double largest = Arrays.stream(from.of()).max().orElseThrow();
    Values powers = map(from, x -> Math.exp(x - largest));
    double sum = Arrays.stream(powers.of()).sum();
    return map(powers, x -> x / sum);
  }
}
