package io.nereid.images;

import io.nereid.images.ImageTensors.Placement;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorMath;
import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Reads the results of detectors and segmenters, in pixels of the original image: it reverses the
 * resizing of {@link ImageTensors}. If boxes of a class overlap, the best stays. Values cannot
 * change, and any thread may use them.
 *
 * <pre>{@code
 * static final ImageTensors INPUT = ImageTensors.of(640, 640).letterbox(0x727272);
 * static final Detections FOUND = Detections.of(INPUT).minScore(0.4f);
 *
 * List<Detection> found = FOUND.yolo(response.output("output0"), image);
 * BufferedImage drawn = Overlay.boxes(image, found, "person", "bicycle");
 * }</pre>
 */
public final class Detections {

  /** The forms of a box's four numbers, in models with a separate output for boxes. */
  public enum Corners {
    /** Left, top, right and bottom in pixels of the model's image, as in PyTorch's models. */
    PIXELS,
    /** Left, top, right and bottom as shares of width and height. */
    SHARES,
    /** Top, left, bottom and right as shares, as in TensorFlow's models. */
    SHARES_TOP_FIRST
  }

  /** The most boxes that are compared with each other: the best. */
  private static final int MOST_COMPARED = 1000;

  private final ImageTensors model;
  private final float minScore;
  private final float maxOverlap;

  private Detections(ImageTensors model, float minScore, float maxOverlap) {
    this.model = model;
    this.minScore = minScore;
    this.maxOverlap = maxOverlap;
  }

  /** Makes a reader for a model, with a least score of 0.25 and a most overlap of 0.45. */
  public static Detections of(ImageTensors model) {
    return new Detections(Objects.requireNonNull(model, "model"), 0.25f, 0.45f);
  }

  /** Returns a copy with another least score. */
  public Detections minScore(float least) {
    return new Detections(model, least, maxOverlap);
  }

  /** Returns a copy with another most overlap (intersection over union) of two boxes of a class. */
  public Detections maxOverlap(float most) {
    return new Detections(model, minScore, most);
  }

  // ---- Boxes -----------------------------------------------------------------------------------

  /**
   * The boxes of an output in YOLO's form, the best first: {@code [1, 4 + C, N]}, a column for each
   * box with its middle, its size and the scores of C classes (from version 8 on), or {@code [1, N,
   * 5 + C]}, a row for each box with its own score before those of the classes.
   */
  public List<Detection> yolo(Tensor output, BufferedImage image) {
    int rank = output.rank();
    if (rank < 2 || output.elementCount() != output.dim(rank - 2) * output.dim(rank - 1)) {
      throw wrong("an output of shape [1, 4 + C, N] or [1, N, 5 + C] for one image", output);
    }
    int rows = Math.toIntExact(output.dim(rank - 2));
    int columns = Math.toIntExact(output.dim(rank - 1));
    boolean turned = rows < columns;
    int first = turned ? 4 : 5; // class
    int numbers = turned ? rows : columns;
    if (numbers <= first) {
      throw wrong("at least one class behind the " + first + " numbers of a box", output);
    }
    long step = turned ? columns : 1; // from one number of a box to the next
    Candidates all = new Candidates();
    for (int box = 0; box < (turned ? columns : rows); box++) {
      long at = turned ? box : (long) box * columns;
      int kind = first;
      for (int i = first + 1; i < numbers; i++) {
        kind = output.doubleAt(at + i * step) > output.doubleAt(at + kind * step) ? i : kind;
      }
      double own = turned ? 1 : output.doubleAt(at + 4);
      double score = own * output.doubleAt(at + kind * step);
      double x = output.doubleAt(at);
      double y = output.doubleAt(at + step);
      double wide = output.doubleAt(at + 2 * step) / 2;
      double high = output.doubleAt(at + 3 * step) / 2;
      all.add(kind - first, score, x - wide, y - high, x + wide, y + high);
    }
    return all.best(image);
  }

  /**
   * The boxes of outputs for boxes, scores and classes, as in SSD and Faster R-CNN, the best first.
   *
   * @param boxes N x 4
   * @param scores N
   * @param kinds N classes, of any type of numbers
   */
  public List<Detection> boxes(
      Tensor boxes, Tensor scores, Tensor kinds, Corners corners, BufferedImage image) {
    long count = scores.elementCount();
    if (boxes.elementCount() != 4 * count || kinds.elementCount() != count) {
      throw wrong("4 numbers and a class for each of " + count + " scores", boxes + ", " + kinds);
    }
    double wide = corners == Corners.PIXELS ? 1 : model.width();
    double high = corners == Corners.PIXELS ? 1 : model.height();
    int x = corners == Corners.SHARES_TOP_FIRST ? 1 : 0;
    Candidates all = new Candidates();
    for (long box = 0; box < count; box++) {
      all.add(
          (int) number(kinds, box),
          scores.doubleAt(box),
          wide * boxes.doubleAt(4 * box + x),
          high * boxes.doubleAt(4 * box + 1 - x),
          wide * boxes.doubleAt(4 * box + 2 + x),
          high * boxes.doubleAt(4 * box + 3 - x));
    }
    return all.best(image);
  }

  private static double number(Tensor tensor, long index) {
    return isWhole(tensor) ? tensor.longAt(index) : tensor.doubleAt(index);
  }

  private static boolean isWhole(Tensor tensor) {
    return switch (tensor.dataType()) {
      case FP16, BF16, FP32, FP64 -> false;
      default -> true;
    };
  }

  private static IllegalArgumentException wrong(String expected, Object got) {
    return new IllegalArgumentException("expected " + expected + ", got " + got);
  }

  /** The boxes with enough score, in pixels of the model's image. */
  private final class Candidates {

    private final List<Detection> all = new ArrayList<>();

    void add(int kind, double score, double left, double top, double right, double bottom) {
      boolean isBox = left < right && top < bottom && Double.isFinite(right - left + bottom - top);
      if (score >= minScore && isBox) {
        all.add(
            new Detection(
                kind, (float) score, (float) left, (float) top, (float) right, (float) bottom));
      }
    }

    /**
     * Returns the best boxes. Boxes of different classes are moved apart first, so that they do not
     * overlap.
     */
    List<Detection> best(BufferedImage image) {
      double least = 0;
      double most = 0;
      for (Detection one : all) {
        least = Math.min(least, one.left());
        most = Math.max(most, one.right());
      }
      double apart = most - least + 1;
      double[] boxes = new double[4 * all.size()];
      float[] scores = new float[all.size()];
      for (int i = 0; i < scores.length; i++) {
        Detection one = all.get(i);
        boxes[4 * i] = one.left() + one.kind() * apart;
        boxes[4 * i + 1] = one.top();
        boxes[4 * i + 2] = one.right() + one.kind() * apart;
        boxes[4 * i + 3] = one.bottom();
        scores[i] = one.score();
      }
      int[] kept = new int[Math.min(scores.length, MOST_COMPARED)];
      int count =
          TensorMath.nonMaxSuppression(
              Tensor.ofDoubles(boxes, scores.length, 4),
              Tensor.ofFloats(scores, scores.length),
              minScore,
              maxOverlap,
              kept);
      List<Detection> best = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        best.add(inImage(all.get(kept[i]), image));
      }
      return best;
    }
  }

  private Detection inImage(Detection found, BufferedImage image) {
    Placement placement = model.placement(image);
    float wide = (float) image.getWidth() / placement.width();
    float high = (float) image.getHeight() / placement.height();
    return new Detection(
        found.kind(),
        found.score(),
        Math.clamp((found.left() - placement.left()) * wide, 0, image.getWidth()),
        Math.clamp((found.top() - placement.top()) * high, 0, image.getHeight()),
        Math.clamp((found.right() - placement.left()) * wide, 0, image.getWidth()),
        Math.clamp((found.bottom() - placement.top()) * high, 0, image.getHeight()));
  }

  // ---- Masks -----------------------------------------------------------------------------------

  /**
   * The classes of an image's pixels, out of an output for one image: whole numbers {@code [H, W]},
   * which are the classes; scores {@code [C, H, W]}, of which the highest decides; or shares {@code
   * [1, H, W]}, with class 1 from 0.5 on. The output may be smaller than the model's image.
   */
  public Mask mask(Tensor output, BufferedImage image) {
    int rank = output.rank();
    if (rank < 2) {
      throw wrong("an output of shape [H, W] or [C, H, W]", output);
    }
    int rows = Math.toIntExact(output.dim(rank - 2));
    int columns = Math.toIntExact(output.dim(rank - 1));
    int planes = Math.toIntExact(output.elementCount() / Math.max(1, (long) rows * columns));
    boolean whole = isWhole(output);
    if (rank > 2 && planes != output.dim(rank - 3) || whole && planes != 1) {
      throw wrong("an output of shape [H, W] or [C, H, W] for one image", output);
    }
    Placement placement = model.placement(image);
    int[] kinds = new int[image.getWidth() * image.getHeight()];
    for (int y = 0; y < image.getHeight(); y++) {
      double inModel = placement.top() + (y + 0.5) * placement.height() / image.getHeight();
      int row = Math.clamp((long) (inModel * rows / model.height()), 0, rows - 1);
      for (int x = 0; x < image.getWidth(); x++) {
        double across = placement.left() + (x + 0.5) * placement.width() / image.getWidth();
        int column = Math.clamp((long) (across * columns / model.width()), 0, columns - 1);
        long at = (long) row * columns + column;
        kinds[y * image.getWidth() + x] =
            whole ? (int) output.longAt(at) : kind(output, at, planes, (long) rows * columns);
      }
    }
    return new Mask(image.getWidth(), image.getHeight(), kinds);
  }

  private static int kind(Tensor scores, long at, int planes, long step) {
    if (planes == 1) {
      return scores.doubleAt(at) >= 0.5 ? 1 : 0;
    }
    int best = 0;
    for (int i = 1; i < planes; i++) {
      best = scores.doubleAt(at + i * step) > scores.doubleAt(at + best * step) ? i : best;
    }
    return best;
  }
}
