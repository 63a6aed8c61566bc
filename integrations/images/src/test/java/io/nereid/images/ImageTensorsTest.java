package io.nereid.images;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.Nereid;
import io.nereid.images.ImageTensors.Layout;
import io.nereid.images.ImageTensors.Placement;
import io.nereid.tensor.Tensor;
import java.awt.image.BufferedImage;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Elements beside plain arithmetic, and a bundled model that reads a PNG. */
class ImageTensorsTest {

  private static final Path EXAMPLES = Path.of("..", "..", "examples");

  private static BufferedImage random(int width, int height, int type) {
    Random random = new Random(width * 31L + height);
    BufferedImage image = new BufferedImage(width, height, type);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        image.setRGB(x, y, 0xff000000 | random.nextInt(1 << 24));
      }
    }
    return image;
  }

  private static float[] written(ImageTensors format, BufferedImage image) {
    long count = 1;
    for (long dim : format.shape(1)) {
      count *= dim;
    }
    MemorySegment memory = MemorySegment.ofArray(new float[(int) count]);
    format.write(image, memory);
    return memory.toArray(JAVA_FLOAT);
  }

  private static int channel(BufferedImage image, int x, int y, int channel) {
    int column = Math.clamp(x, 0, image.getWidth() - 1);
    int row = Math.clamp(y, 0, image.getHeight() - 1);
    return image.getRGB(column, row) >> 16 - 8 * channel & 0xff;
  }

  /** The definition: the mean of the pixels around a point, weighted by how near they are. */
  private static double sample(BufferedImage image, double x, double y, int channel) {
    double sum = 0;
    for (int row = (int) Math.floor(y); row <= Math.floor(y) + 1; row++) {
      for (int column = (int) Math.floor(x); column <= Math.floor(x) + 1; column++) {
        double weight = (1 - Math.abs(x - column)) * (1 - Math.abs(y - row));
        sum += weight * channel(image, column, row, channel);
      }
    }
    return sum;
  }

  @ParameterizedTest
  @CsvSource({"5, 7, 5, 7", "5, 7, 10, 21", "64, 48, 17, 13", "1, 1, 4, 4", "9, 3, 3, 9"})
  void pixelsAreWhatTheArithmeticSays(int width, int height, int wide, int high) {
    float[] mean = {0.485f, 0.456f, 0.406f};
    float[] deviation = {0.229f, 0.224f, 0.225f};
    BufferedImage image = random(width, height, BufferedImage.TYPE_INT_RGB);
    ImageTensors planes = ImageTensors.of(wide, high).mean(mean).deviation(deviation);
    float[] byChannel = written(planes, image);
    float[] byPixel = written(planes.layout(Layout.NHWC), image);
    float[] grey = written(ImageTensors.of(wide, high).layout(Layout.NHW), image);
    for (int y = 0; y < high; y++) {
      for (int x = 0; x < wide; x++) {
        double[] rgb = new double[3];
        for (int c = 0; c < 3; c++) {
          double atX = (x + 0.5) * width / wide - 0.5;
          double atY = (y + 0.5) * height / high - 0.5;
          rgb[c] = sample(image, atX, atY, c);
          double expected = (rgb[c] / 255 - mean[c]) / deviation[c];
          assertEquals(expected, byChannel[(c * high + y) * wide + x], 1e-4, x + " " + y);
          assertEquals(expected, byPixel[(y * wide + x) * 3 + c], 1e-4, x + " " + y);
        }
        double luminance = (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
        assertEquals(luminance, grey[y * wide + x], 1e-5);
      }
    }
  }

  @Test
  void everyKindOfImageHasItsColours() {
    int[] types = {
      BufferedImage.TYPE_INT_RGB, BufferedImage.TYPE_INT_ARGB, BufferedImage.TYPE_3BYTE_BGR
    };
    float[] expected = written(ImageTensors.of(6, 4), random(6, 4, types[0]));
    for (int type : types) {
      assertArrayEquals(expected, written(ImageTensors.of(6, 4), random(6, 4, type)));
    }
  }

  @Test
  void aLetterboxKeepsProportions() {
    BufferedImage wide = random(20, 10, BufferedImage.TYPE_INT_RGB);
    ImageTensors format = ImageTensors.of(8, 8).letterbox(0xff8000);
    assertEquals(new Placement(0, 2, 8, 4), format.placement(wide));
    assertEquals(
        new Placement(3, 0, 2, 8), format.placement(random(10, 40, BufferedImage.TYPE_INT_RGB)));
    float[] boxed = written(format, wide);
    float[] alone = written(ImageTensors.of(8, 4), wide);
    float[] colour = {1, 128 / 255f, 0};
    for (int c = 0; c < 3; c++) {
      for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
          boolean bar = y < 2 || y >= 6;
          float expected = bar ? colour[c] : alone[(c * 4 + y - 2) * 8 + x];
          assertEquals(expected, boxed[(c * 8 + y) * 8 + x], 1e-6f);
        }
      }
    }
  }

  @Test
  void aPngIsADigit() throws Exception {
    ImageTensors digits = ImageTensors.of(8, 8).layout(Layout.NHW).mean(1).deviation(-1 / 16f);
    BufferedImage seven = ImageIO.read(EXAMPLES.resolve("data/seven.png").toFile());
    String[] fields = Files.readAllLines(EXAMPLES.resolve("data/digits.csv")).getFirst().split(",");
    try (Nereid nereid = Nereid.open(EXAMPLES.resolve("models/digits/1/model.onnx"));
        var request = nereid.model().newRequest()) {
      Tensor input = digits.input(request, "image", List.of(seven, seven));
      for (int i = 0; i < 64; i++) {
        assertEquals(Float.parseFloat(fields[i + 1]), input.floatAt(i), 0.04f); // 16 / 255 / 2
        assertEquals(input.floatAt(i), input.floatAt(64 + i));
      }
      try (var response = request.infer()) {
        float[] scores = response.output("scores").row(1).toFloatArray();
        int best = 0;
        for (int i = 1; i < scores.length; i++) {
          best = scores[i] > scores[best] ? i : best;
        }
        assertEquals(7, best);
      }
    }
  }

  @Test
  void whatCannotBeIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(0, 4));
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(4, 4).mean(1, 2));
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(4, 4).deviation(0));
  }
}
