package io.nereid.images;

import io.nereid.images.ImageTensors.Placement;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.lang.foreign.MemorySegment;

/**
 * Writes one image, resized, where the model reads it. Two rows of the image are kept at a time.
 */
final class ImageWriter {

  private final ImageTensors format;
  private final MemorySegment to;

  ImageWriter(ImageTensors format, MemorySegment to) {
    this.format = format;
    this.to = to;
  }

  void write(BufferedImage image, Placement placement) {
    if (placement.width() < format.width() || placement.height() < format.height()) {
      writeBars(placement);
    }
    Axis columns = new Axis(image.getWidth(), placement.width());
    Axis rows = new Axis(image.getHeight(), placement.height());
    int[] upper = new int[image.getWidth()];
    int[] lower = new int[image.getWidth()];
    for (int y = 0; y < placement.height(); y++) {
      read(image, rows.first[y], upper);
      read(image, rows.second[y], lower);
      for (int x = 0; x < placement.width(); x++) {
        int first = columns.first[x];
        int second = columns.second[x];
        float across = columns.weight[x];
        format.put(
            to,
            placement.left() + x,
            placement.top() + y,
            mix(upper, lower, first, second, across, rows.weight[y], 16),
            mix(upper, lower, first, second, across, rows.weight[y], 8),
            mix(upper, lower, first, second, across, rows.weight[y], 0));
      }
    }
  }

  /**
   * Reads a row as RGB. Java takes the numbers of grey images for linear ones and would brighten
   * them; files mean sRGB, as with colours.
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

  /** One channel, in the bits from {@code shift} on, between four pixels. */
  private static float mix(
      int[] upper, int[] lower, int first, int second, float across, float down, int shift) {
    int topLeft = upper[first] >> shift & 0xff;
    int topRight = upper[second] >> shift & 0xff;
    int bottomLeft = lower[first] >> shift & 0xff;
    int bottomRight = lower[second] >> shift & 0xff;
    float top = topLeft + across * (topRight - topLeft);
    float bottom = bottomLeft + across * (bottomRight - bottomLeft);
    return top + down * (bottom - top);
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

  /** Between which two of the old positions each new one lies, and how far from the first. */
  private static final class Axis {
    final int[] first;
    final int[] second;
    final float[] weight;

    Axis(int old, int wanted) {
      first = new int[wanted];
      second = new int[wanted];
      weight = new float[wanted];
      for (int i = 0; i < wanted; i++) {
        double at = Math.clamp((i + 0.5) * old / wanted - 0.5, 0, old - 1);
        first[i] = (int) at;
        second[i] = Math.min(first[i] + 1, old - 1);
        weight[i] = (float) (at - first[i]);
      }
    }
  }
}
