package io.nereid.images;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.images.Detections.Corners;
import io.nereid.tensor.Tensor;
import java.awt.image.BufferedImage;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Outputs of detectors and segmenters, for an image of 200 x 100 in a model's square of 100. */
class DetectionsTest {

  private static final ImageTensors SQUARE = ImageTensors.of(100, 100);

  /** The image lies from row 25 to row 75. */
  private static final Detections FOUND = Detections.of(SQUARE.letterbox(0));

  private static final BufferedImage IMAGE =
      new BufferedImage(200, 100, BufferedImage.TYPE_INT_RGB);

  private static void assertFound(
      Detection found, int kind, double score, int left, int top, int right, int bottom) {
    assertEquals(kind, found.kind());
    assertEquals(score, found.score(), 1e-6);
    assertEquals(left, found.left(), 1e-3);
    assertEquals(top, found.top(), 1e-3);
    assertEquals(right, found.right(), 1e-3);
    assertEquals(bottom, found.bottom(), 1e-3);
  }

  /** Rows of x, y, width, height and scores become columns. */
  private static Tensor columns(float[]... boxes) {
    int numbers = boxes[0].length;
    float[] turned = new float[numbers * boxes.length];
    for (int i = 0; i < boxes.length; i++) {
      for (int k = 0; k < numbers; k++) {
        turned[k * boxes.length + i] = boxes[i][k];
      }
    }
    return Tensor.ofFloats(turned, 1, numbers, boxes.length);
  }

  @Test
  void yolosColumnsAreBoxesInTheImage() {
    float[] nothing = new float[6];
    float[] notANumber = {Float.NaN, 50, 20, 10, 0.9f, 0};
    Tensor output =
        columns(
            new float[] {50, 50, 20, 10, 0.1f, 0.8f},
            new float[] {51, 50, 20, 10, 0.1f, 0.7f}, // nearly the same
            new float[] {50, 50, 20, 10, 0.9f, 0.1f}, // in its place, of another class
            new float[] {95, 30, 20, 20, 0.3f, 0.2f}, // reaches out of the image
            new float[] {20, 50, 20, 10, 0.2f, 0.2f}, // hardly sure
            notANumber,
            nothing,
            nothing);
    List<Detection> found = FOUND.yolo(output, IMAGE);
    assertEquals(3, found.size(), found.toString());
    assertFound(found.get(0), 0, 0.9, 80, 40, 120, 60);
    assertFound(found.get(1), 1, 0.8, 80, 40, 120, 60);
    assertFound(found.get(2), 0, 0.3, 170, 0, 200, 30);
    assertEquals(4, FOUND.maxOverlap(0.95f).yolo(output, IMAGE).size());
    assertEquals(5, FOUND.maxOverlap(0.95f).minScore(0.2f).yolo(output, IMAGE).size());
  }

  @Test
  void yolosRowsHaveAScoreOfTheirOwn() {
    float[] rows = new float[8 * 7];
    System.arraycopy(new float[] {50, 50, 20, 10, 0.5f, 0.1f, 0.8f}, 0, rows, 7, 7);
    List<Detection> found = FOUND.yolo(Tensor.ofFloats(rows, 1, 8, 7), IMAGE);
    assertEquals(1, found.size());
    assertFound(found.getFirst(), 1, 0.4, 80, 40, 120, 60);
    Tensor two = Tensor.ofFloats(new float[2 * 8 * 7], 2, 8, 7);
    assertThrows(IllegalArgumentException.class, () -> FOUND.yolo(two, IMAGE));
  }

  @Test
  void boxesScoresAndClassesAreReadInEachOrder() {
    Tensor scores = Tensor.ofFloats(new float[] {0.2f, 0.6f}, 1, 2);
    Tensor pixels = Tensor.ofFloats(new float[] {0, 0, 9, 9, 10, 30, 40, 50}, 1, 2, 4);
    Tensor kinds = Tensor.ofLongs(new long[] {1, 7}, 1, 2);
    List<Detection> found = FOUND.boxes(pixels, scores, kinds, Corners.PIXELS, IMAGE);
    assertEquals(1, found.size());
    assertFound(found.getFirst(), 7, 0.6, 20, 10, 80, 50);
    Tensor shares = Tensor.ofFloats(new float[] {0, 0, 1, 1, 0.1f, 0.3f, 0.4f, 0.5f}, 2, 4);
    Detections stretched = Detections.of(SQUARE);
    assertFound(
        stretched.boxes(shares, scores, kinds, Corners.SHARES, IMAGE).getFirst(),
        7,
        0.6,
        20,
        30,
        80,
        50);
    Tensor floats = Tensor.ofFloats(new float[] {1, 7}, 2);
    assertFound(
        stretched.boxes(shares, scores, floats, Corners.SHARES_TOP_FIRST, IMAGE).getFirst(),
        7,
        0.6,
        60,
        10,
        100,
        40);
    assertThrows(
        IllegalArgumentException.class,
        () -> FOUND.boxes(scores, scores, kinds, Corners.PIXELS, IMAGE));
  }

  /** Class 3 is at the left half of the model's image, and of the picture. */
  @Test
  void masksAreThoseOfTheImage() {
    int[] whole = new int[8 * 8];
    float[] planes = new float[4 * 8 * 8];
    float[] shares = new float[8 * 8];
    for (int i = 0; i < whole.length; i++) {
      boolean in = i % 8 < 4 && i / 8 >= 4;
      whole[i] = in ? 3 : 0;
      planes[(in ? 3 : 0) * 64 + i] = 1;
      shares[i] = in ? 0.5f : 0.4f;
    }
    Mask mask = FOUND.mask(Tensor.ofInts(whole, 1, 8, 8), IMAGE);
    assertEquals(0, mask.kinds()[49 * 200 + 99]);
    assertEquals(3, mask.kinds()[50 * 200 + 99]);
    assertEquals(0, mask.kinds()[50 * 200 + 100]);
    assertEquals(0.25, mask.share(3), 1e-9);
    assertTrue(
        Arrays.equals(
            mask.kinds(), FOUND.mask(Tensor.ofFloats(planes, 1, 4, 8, 8), IMAGE).kinds()));
    assertEquals(0.25, FOUND.mask(Tensor.ofFloats(shares, 1, 8, 8), IMAGE).share(1), 1e-9);
    BufferedImage drawn = Overlay.mask(IMAGE, mask);
    assertEquals(0xff000000, drawn.getRGB(99, 49));
    int tint = Overlay.colour(3).getRGB() & 0xfefefe;
    assertEquals(0xff000000 | tint >>> 1, drawn.getRGB(99, 50));
    assertEquals(0xff000000, IMAGE.getRGB(99, 50));
  }

  @Test
  void framesLieAroundWhatWasFound() {
    Detection one = new Detection(1, 0.8f, 80, 40, 120, 60);
    BufferedImage drawn = Overlay.boxes(IMAGE, List.of(one), "dog", "a whale");
    int colour = Overlay.colour(1).getRGB();
    for (int[] corner : new int[][] {{80, 40}, {119, 40}, {80, 59}, {119, 59}, {119, 50}}) {
      assertEquals(colour, drawn.getRGB(corner[0], corner[1]), Arrays.toString(corner));
    }
    for (int[] outside : new int[][] {{81, 41}, {100, 50}, {120, 50}, {79, 50}, {100, 60}}) {
      assertEquals(0xff000000, drawn.getRGB(outside[0], outside[1]), Arrays.toString(outside));
    }
    int light = 0;
    for (int x = 80; x < 160; x++) {
      for (int y = 26; y < 40; y++) {
        light += drawn.getRGB(x, y) == 0xffffffff ? 1 : 0;
      }
    }
    assertTrue(light > 20, "the label is written in white: " + light);
    assertEquals(colour, drawn.getRGB(81, 38), "on the colour of the class");
    assertNotEquals(Overlay.colour(1), Overlay.colour(2));
  }
}
