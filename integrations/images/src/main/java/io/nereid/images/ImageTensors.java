package io.nereid.images;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.tensor.Tensor;
import java.awt.image.BufferedImage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * Knows the images that a model wants: their size, the order of their numbers, and what the numbers
 * are. It writes images of any size and kind as FP32 straight into the memory that the model reads.
 *
 * <pre>{@code
 * static final ImageTensors PHOTOS =
 *     ImageTensors.of(224, 224)
 *         .mean(0.485f, 0.456f, 0.406f)
 *         .deviation(0.229f, 0.224f, 0.225f);
 *
 * PHOTOS.input(request, "pixel_values", List.of(ImageIO.read(file)));
 * }</pre>
 *
 * <p>An element is {@code (p / 255 - mean) / deviation} of a channel's value {@code p}, 0 to 255.
 * Images are resized by a {@link Filter}. Colours are sRGB; how transparent a pixel is makes no
 * difference. Values cannot change, and any thread may use them.
 */
public final class ImageTensors {

  /** The order of the elements: N images, C channels, H rows, W columns. */
  public enum Layout {
    /** Channel by channel, as in PyTorch's models. */
    NCHW,
    /** Pixel by pixel, as in TensorFlow's models. */
    NHWC,
    /** Grey images, without a dimension for the channel. */
    NHW
  }

  /** The ways to resize images, by the pixels that a new one is computed from. */
  public enum Filter {
    /**
     * Bilinear, from all pixels that a new one covers, as in PIL, and in torchvision with {@code
     * antialias}.
     */
    BILINEAR(1),
    /** Bicubic, likewise: sharper. */
    BICUBIC(2),
    /** Bilinear, always from the nearest four pixels: OpenCV's {@code INTER_LINEAR}. */
    NEAREST_FOUR(1);

    private final int reach;

    Filter(int reach) {
      this.reach = reach;
    }

    /** The distance from which on weights are 0. */
    int reach() {
      return reach;
    }

    /** The weight of a pixel at a distance. */
    double weight(double distance) {
      double x = Math.abs(distance);
      if (x >= reach) {
        return 0;
      }
      if (this != BICUBIC) {
        return 1 - x;
      }
      return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
    }
  }

  /**
   * The place of an image within the model's image, in pixels of the model's: all of it except a
   * letterbox's bars; cropped parts lie outside. An object that a model finds at {@code x} is at
   * {@code (x - left) * image.getWidth() / width} of the image.
   */
  public record Placement(int left, int top, int width, int height) {}

  private static final float[] NO_MEAN = {0, 0, 0};
  private static final float[] NO_DEVIATION = {1, 1, 1};
  private static final int NO_BARS = -1;
  private static final int NO_CROP = 0;

  private final int width;
  private final int height;
  private final Layout layout;
  private final boolean gray;
  private final float[] mean;
  private final float[] deviation;
  private final int bars; // the colour of a letterbox's bars; NO_BARS: no letterbox
  private final int shorter; // length of the shorter side before cropping; NO_CROP: no cropping
  private final Filter filter;

  private ImageTensors(
      int width,
      int height,
      Layout layout,
      boolean gray,
      float[] mean,
      float[] deviation,
      int bars,
      int shorter,
      Filter filter) {
    this.width = width;
    this.height = height;
    this.layout = layout;
    this.gray = gray;
    this.mean = mean;
    this.deviation = deviation;
    this.bars = bars;
    this.shorter = shorter;
    this.filter = filter;
  }

  /**
   * Makes RGB images of that size, as {@link Layout#NCHW}, elements from 0 to 1, stretched to fit.
   */
  public static ImageTensors of(int width, int height) {
    if (width < 1 || height < 1) {
      throw new IllegalArgumentException(
          "expected a size of at least 1 x 1, got " + width + " x " + height);
    }
    return new ImageTensors(
        width,
        height,
        Layout.NCHW,
        false,
        NO_MEAN,
        NO_DEVIATION,
        NO_BARS,
        NO_CROP,
        Filter.BILINEAR);
  }

  /** Returns a copy with another order; {@link Layout#NHW} makes images grey, too. */
  public ImageTensors layout(Layout other) {
    Objects.requireNonNull(other, "layout");
    boolean flat = other == Layout.NHW;
    return new ImageTensors(
        width, height, other, gray || flat, mean, deviation, bars, shorter, filter);
  }

  /** Returns a copy with one channel, the luminance of ITU-R BT.601. */
  public ImageTensors gray() {
    return new ImageTensors(width, height, layout, true, mean, deviation, bars, shorter, filter);
  }

  /**
   * Returns a copy with the mean that is subtracted from each channel: one number, or those of red,
   * green and blue.
   */
  public ImageTensors mean(float... values) {
    return new ImageTensors(
        width, height, layout, gray, three(values), deviation, bars, shorter, filter);
  }

  /**
   * Returns a copy with the deviation by which each channel is then divided, likewise; a negative
   * one inverts the channel.
   */
  public ImageTensors deviation(float... values) {
    float[] all = three(values);
    for (float value : all) {
      if (value == 0) {
        throw new IllegalArgumentException("expected deviations other than 0");
      }
    }
    return new ImageTensors(width, height, layout, gray, mean, all, bars, shorter, filter);
  }

  private static float[] three(float[] values) {
    return switch (values.length) {
      case 1 -> new float[] {values[0], values[0], values[0]};
      case 3 -> values.clone();
      default ->
          throw new IllegalArgumentException("expected 1 or 3 numbers, got " + values.length);
    };
  }

  /**
   * Returns a copy that keeps proportions, with bars of this colour around the image ({@code
   * 0x727272}).
   */
  public ImageTensors letterbox(int rgb) {
    int colour = rgb & 0xffffff;
    return new ImageTensors(width, height, layout, gray, mean, deviation, colour, NO_CROP, filter);
  }

  /**
   * Returns a copy that keeps proportions, resizes the shorter side to that many pixels, and takes
   * the middle: 256 for many models of 224 x 224.
   */
  public ImageTensors crop(int shorterSide) {
    if (shorterSide < Math.max(width, height)) {
      throw new IllegalArgumentException(
          "expected a shorter side of at least %s to cut the middle out of, got %s"
              .formatted(Math.max(width, height), shorterSide));
    }
    return new ImageTensors(
        width, height, layout, gray, mean, deviation, NO_BARS, shorterSide, filter);
  }

  /** Returns a copy with another filter than {@link Filter#BILINEAR}. */
  public ImageTensors filter(Filter other) {
    Objects.requireNonNull(other, "filter");
    return new ImageTensors(width, height, layout, gray, mean, deviation, bars, shorter, other);
  }

  // ---- Images ----------------------------------------------------------------------------------

  /** The shape of so many images. */
  public long[] shape(int images) {
    int channels = gray ? 1 : 3;
    return switch (layout) {
      case NCHW -> new long[] {images, channels, height, width};
      case NHWC -> new long[] {images, height, width, channels};
      case NHW -> new long[] {images, height, width};
    };
  }

  /** Allocates an input of a request, and writes the images into it, one a row. */
  public Tensor input(InferRequest request, String name, List<BufferedImage> images) {
    Tensor tensor = request.allocateInput(name, shape(images.size()));
    long size = tensor.byteSize() / Math.max(1, images.size());
    for (int i = 0; i < images.size(); i++) {
      write(images.get(i), tensor.segment().asSlice(i * size, size));
    }
    return tensor;
  }

  /** Returns the place of an image within the model's image. */
  public Placement placement(BufferedImage image) {
    if (shorter != NO_CROP) {
      int least = Math.min(image.getWidth(), image.getHeight());
      int wide = (int) ((long) shorter * image.getWidth() / least);
      int high = (int) ((long) shorter * image.getHeight() / least);
      int left = (int) Math.rint((wide - width) / 2.0);
      int top = (int) Math.rint((high - height) / 2.0);
      return new Placement(-left, -top, wide, high);
    }
    if (bars == NO_BARS) {
      return new Placement(0, 0, width, height);
    }
    double scale = Math.min((double) width / image.getWidth(), (double) height / image.getHeight());
    int wide = Math.clamp(Math.round(image.getWidth() * scale), 1, width);
    int high = Math.clamp(Math.round(image.getHeight() * scale), 1, height);
    return new Placement((width - wide) / 2, (height - high) / 2, wide, high);
  }

  /** Writes one image as FP32 into memory that has room for it, one row of {@link #shape}. */
  public void write(BufferedImage image, MemorySegment to) {
    new ImageWriter(this, to).write(image, placement(image));
  }

  // ---- Elements and their places ---------------------------------------------------------------

  int width() {
    return width;
  }

  int height() {
    return height;
  }

  int bars() {
    return bars;
  }

  Filter filter() {
    return filter;
  }

  /** Writes a pixel, whose channels are from 0 to 255. */
  void put(MemorySegment to, int x, int y, float red, float green, float blue) {
    if (gray) {
      put(to, x, y, 0, 0.299f * red + 0.587f * green + 0.114f * blue);
    } else {
      put(to, x, y, 0, red);
      put(to, x, y, 1, green);
      put(to, x, y, 2, blue);
    }
  }

  private void put(MemorySegment to, int x, int y, int channel, float value) {
    long pixel = (long) y * width + x;
    int channels = gray ? 1 : 3;
    long index =
        layout == Layout.NHWC
            ? pixel * channels + channel
            : (long) channel * width * height + pixel;
    to.setAtIndex(JAVA_FLOAT, index, (value / 255 - mean[channel]) / deviation[channel]);
  }
}
