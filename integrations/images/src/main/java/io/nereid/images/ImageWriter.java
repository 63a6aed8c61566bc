package io.nereid.images;

import io.nereid.images.ImageTensors.Filter;
import io.nereid.images.ImageTensors.Placement;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.lang.foreign.MemorySegment;

/**
 * Writes one image, resized, into the model's memory: rows of the image are resized one by one,
 * keeping only those that a row of the model's needs.
 */
final class ImageWriter {

  private static final int CHANNELS = 3;

  private final ImageTensors format;
  private final MemorySegment to;

  ImageWriter(ImageTensors format, MemorySegment to) {
    this.format = format;
    this.to = to;
  }

  void write(BufferedImage image, Placement placement) {
    int left = Math.max(0, placement.left());
    int top = Math.max(0, placement.top());
    int right = Math.min(format.width(), placement.left() + placement.width());
    int bottom = Math.min(format.height(), placement.top() + placement.height());
    if (right - left < format.width() || bottom - top < format.height()) {
      writeBars(placement);
    }
    Axis columns =
        new Axis(
            format.filter(),
            image.getWidth(),
            placement.width(),
            left - placement.left(),
            right - left);
    Axis rows =
        new Axis(
            format.filter(),
            image.getHeight(),
            placement.height(),
            top - placement.top(),
            bottom - top);
    int[] rgb = new int[image.getWidth()];
    float[][] kept = new float[rows.longest()][(right - left) * CHANNELS];
    int next = 0;
    for (int y = 0; y < bottom - top; y++) {
      int first = rows.first[y];
      for (next = Math.max(next, first); next < first + rows.weights[y].length; next++) {
        read(image, next, rgb);
        resize(rgb, columns, kept[next % kept.length]);
      }
      for (int x = 0; x < right - left; x++) {
        format.put(
            to,
            left + x,
            top + y,
            sum(kept, first, rows.weights[y], CHANNELS * x),
            sum(kept, first, rows.weights[y], CHANNELS * x + 1),
            sum(kept, first, rows.weights[y], CHANNELS * x + 2));
      }
    }
  }

  private static float sum(float[][] rows, int first, float[] weights, int index) {
    float sum = 0;
    for (int i = 0; i < weights.length; i++) {
      sum += weights[i] * rows[(first + i) % rows.length][index];
    }
    return Math.clamp(sum, 0, 255);
  }

  private static void resize(int[] rgb, Axis columns, float[] to) {
    for (int x = 0; x < columns.first.length; x++) {
      float red = 0;
      float green = 0;
      float blue = 0;
      float[] weights = columns.weights[x];
      for (int i = 0; i < weights.length; i++) {
        int pixel = rgb[columns.first[x] + i];
        red += weights[i] * (pixel >> 16 & 0xff);
        green += weights[i] * (pixel >> 8 & 0xff);
        blue += weights[i] * (pixel & 0xff);
      }
      to[CHANNELS * x] = Math.clamp(red, 0, 255);
      to[CHANNELS * x + 1] = Math.clamp(green, 0, 255);
      to[CHANNELS * x + 2] = Math.clamp(blue, 0, 255);
    }
  }

  /**
   * Reads a row as RGB. Grey images are read as sRGB, like colours; Java would take their values
   * for linear and brighten them.
   */
  private static void read(BufferedImage image, int row, int[] rgb) {
    ColorModel colours = image.getColorModel();
    if (colours.getColorSpace().getType() != ColorSpace.TYPE_GRAY) {
      image.getRGB(0, row, rgb.length, 1, rgb, 0, rgb.length);
      return;
    }
    image.getRaster().getSamples(0, row, rgb.length, 1, 0, rgb);
    int most = (1 << colours.getComponentSize(0)) - 1;
    for (int x = 0; x < rgb.length; x++) {
      rgb[x] = (rgb[x] * 255 + most / 2) / most * 0x010101;
    }
  }

  private void writeBars(Placement placement) {
    int bars = format.bars();
    for (int y = 0; y < format.height(); y++) {
      boolean outside = y < placement.top() || y >= placement.top() + placement.height();
      for (int x = 0; x < format.width(); x++) {
        if (outside || x < placement.left() || x >= placement.left() + placement.width()) {
          format.put(to, x, y, bars >> 16 & 0xff, bars >> 8 & 0xff, bars & 0xff);
        }
      }
    }
  }

  /** The old positions that each new one is computed from, with their weights. */
  private static final class Axis {
    final int[] first;
    final float[][] weights;

    /** Computes the weights of {@code count} of the {@code wanted} new positions. */
    Axis(Filter filter, int old, int wanted, int from, int count) {
      first = new int[count];
      weights = new float[count][];
      double scale = (double) old / wanted;
      double width = filter == Filter.NEAREST_FOUR ? 1 : Math.max(1, scale);
      for (int i = 0; i < count; i++) {
        double center = (from + i + 0.5) * scale;
        double reach = filter.reach() * width;
        int begin = Math.max(0, (int) (center - reach + 0.5));
        int end = Math.min(old, (int) (center + reach + 0.5));
        double[] parts = new double[end - begin];
        double sum = 0;
        for (int j = 0; j < parts.length; j++) {
          parts[j] = filter.weight((begin + j + 0.5 - center) / width);
          sum += parts[j];
        }
        first[i] = begin;
        weights[i] = new float[parts.length];
        for (int j = 0; j < parts.length; j++) {
          weights[i][j] = (float) (parts[j] / sum);
        }
      }
    }

    int longest() {
      int longest = 1;
      for (float[] one : weights) {
        longest = Math.max(longest, one.length);
      }
      return longest;
    }
  }
}
