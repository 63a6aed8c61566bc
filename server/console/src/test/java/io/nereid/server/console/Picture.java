package io.nereid.server.console;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import javax.imageio.ImageIO;

/** Makes pictures of pages small: they have few colours, and few of these matter. */
final class Picture {

  private static final int COLOURS = 64;

  private Picture() {}

  /** Returns the picture with its most frequent colours in place of all others, as a PNG. */
  static byte[] small(byte[] png) throws IOException {
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
    int[] pixels =
        image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
    Map<Integer, Integer> counts = new HashMap<>();
    for (int pixel : pixels) {
      counts.merge(pixel, 1, Integer::sum);
    }
    int[] palette =
        counts.entrySet().stream()
            .sorted(Map.Entry.<Integer, Integer>comparingByValue(Comparator.reverseOrder()))
            .limit(COLOURS)
            .mapToInt(Map.Entry::getKey)
            .toArray();
    Map<Integer, Integer> nearest = new HashMap<>();
    BufferedImage indexed =
        new BufferedImage(
            image.getWidth(),
            image.getHeight(),
            BufferedImage.TYPE_BYTE_INDEXED,
            new IndexColorModel(
                8, palette.length, palette, 0, false, -1, java.awt.image.DataBuffer.TYPE_BYTE));
    int[] indices =
        Arrays.stream(pixels)
            .map(pixel -> nearest.computeIfAbsent(pixel, each -> nearest(palette, each)))
            .toArray();
    indexed.getRaster().setPixels(0, 0, image.getWidth(), image.getHeight(), indices);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ImageIO.write(indexed, "png", out);
    return out.toByteArray();
  }

  private static int nearest(int[] palette, int pixel) {
    int best = 0;
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < palette.length; i++) {
      int far =
          square(palette[i] >> 16, pixel >> 16)
              + square(palette[i] >> 8, pixel >> 8)
              + square(palette[i], pixel);
      if (far < least) {
        least = far;
        best = i;
      }
    }
    return best;
  }

  private static int square(int one, int other) {
    int difference = (one & 255) - (other & 255);
    return difference * difference;
  }
}
