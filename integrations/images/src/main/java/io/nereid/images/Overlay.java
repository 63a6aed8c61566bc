package io.nereid.images;

import java.awt.Color;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.util.List;
import java.util.Locale;

/** Draws detections over a copy of an image. Any thread may call. */
public final class Overlay {

  private static final int PADDING = 3;

  private Overlay() {}

  /**
   * Returns the image with a frame around each detection, and its label and score above; without a
   * label, the class's number. Without fonts, as in the smallest containers, there is no text.
   */
  public static BufferedImage boxes(BufferedImage image, List<Detection> found, String... labels) {
    BufferedImage drawn = copy(image);
    Graphics2D pen = drawn.createGraphics();
    try {
      int line = Math.max(1, Math.min(image.getWidth(), image.getHeight()) / 200);
      for (Detection one : found.reversed()) { // the best lies on top
        int left = Math.round(one.left());
        int top = Math.round(one.top());
        int wide = Math.round(one.right()) - left;
        int high = Math.round(one.bottom()) - top;
        pen.setColor(colour(one.kind()));
        for (int i = 0; i < line && 2 * i < Math.min(wide, high); i++) {
          pen.drawRect(left + i, top + i, wide - 2 * i - 1, high - 2 * i - 1);
        }
        String label =
            one.kind() < labels.length && one.kind() >= 0
                ? labels[one.kind()]
                : Integer.toString(one.kind());
        write(pen, String.format(Locale.ROOT, "%s %.2f", label, one.score()), left, top, image);
      }
    } finally {
      pen.dispose();
    }
    return drawn;
  }

  private static void write(Graphics2D pen, String text, int left, int top, BufferedImage image) {
    FontMetrics font;
    try {
      int size = Math.clamp(Math.min(image.getWidth(), image.getHeight()) / 30, 11, 40);
      pen.setFont(new Font(Font.SANS_SERIF, Font.BOLD, size));
      font = pen.getFontMetrics();
    } catch (RuntimeException | InternalError | LinkageError e) {
      return; // Java has no fonts
    }
    int wide = font.stringWidth(text) + 2 * PADDING;
    int high = font.getHeight();
    int x = Math.clamp(left, 0, Math.max(0, image.getWidth() - wide));
    int y = Math.max(0, top - high);
    pen.fillRect(x, y, wide, high);
    pen.setColor(Color.WHITE);
    pen.setRenderingHint(
        RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    pen.drawString(text, x + PADDING, y + font.getAscent());
  }

  /** The image with each pixel mixed half with the colour of its class; class 0 is unchanged. */
  public static BufferedImage mask(BufferedImage image, Mask mask) {
    if (mask.width() != image.getWidth() || mask.height() != image.getHeight()) {
      throw new IllegalArgumentException(
          "expected a mask of %s x %s, got one of %s x %s"
              .formatted(image.getWidth(), image.getHeight(), mask.width(), mask.height()));
    }
    BufferedImage drawn = copy(image);
    for (int y = 0; y < mask.height(); y++) {
      for (int x = 0; x < mask.width(); x++) {
        int kind = mask.kinds()[y * mask.width() + x];
        if (kind != 0) {
          drawn.setRGB(x, y, mix(drawn.getRGB(x, y), colour(kind).getRGB()));
        }
      }
    }
    return drawn;
  }

  /** Mixes two colours half and half. */
  private static int mix(int one, int other) {
    return ((one & 0xfefefe) >>> 1) + ((other & 0xfefefe) >>> 1);
  }

  /** The colour of a class, on which white letters are readable. */
  public static Color colour(int kind) {
    // colours of neighbouring classes differ much
    float hue = Math.floorMod(190 + 137L * kind, 360) / 360f;
    return Color.getHSBColor(hue, 0.85f, 0.55f);
  }

  private static BufferedImage copy(BufferedImage image) {
    BufferedImage copy =
        new BufferedImage(image.getWidth(), image.getHeight(), BufferedImage.TYPE_INT_RGB);
    Graphics2D pen = copy.createGraphics();
    try {
      pen.drawImage(image, 0, 0, null);
    } finally {
      pen.dispose();
    }
    return copy;
  }
}
