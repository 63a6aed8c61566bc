package io.nereid.images;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.Nereid;
import io.nereid.images.ImageTensors.Filter;
import io.nereid.images.ImageTensors.Layout;
import io.nereid.images.ImageTensors.Placement;
import io.nereid.tensor.Tensor;
import java.awt.image.BufferedImage;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
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
    ImageTensors four = ImageTensors.of(wide, high).filter(Filter.NEAREST_FOUR);
    ImageTensors planes = four.mean(mean).deviation(deviation);
    float[] byChannel = written(planes, image);
    float[] byPixel = written(planes.layout(Layout.NHWC), image);
    float[] grey = written(four.layout(Layout.NHW), image);
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

  /** An image that a formula makes here and in the script whose results stand below. */
  private static BufferedImage pattern(int width, int height) {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        int red = x * 37 + y * 59 + x * y * 7;
        image.setRGB(x, y, (red & 255) << 16 | (red + 101 & 255) << 8 | red + 202 & 255);
      }
    }
    return image;
  }

  private static void assertNear(String pixels, ImageTensors format, BufferedImage image) {
    byte[] expected = HexFormat.of().parseHex(pixels);
    float[] got = written(format.layout(Layout.NHWC), image);
    assertEquals(expected.length, got.length);
    for (int i = 0; i < got.length; i++) {
      assertEquals(Byte.toUnsignedInt(expected[i]), got[i] * 255, 1.001, "element " + i);
    }
  }

  /** PIL 9.4: {@code image.resize(size, filter).tobytes().hex()}. */
  @Test
  void shrunkImagesAreThoseOfPil() {
    ImageTensors bicubic = ImageTensors.of(7, 5).filter(Filter.BICUBIC);
    assertNear(
        "76897780857b76747d857e817e717f808c7881698285728b8c7f7b897e868d797e7f75788f7a6871"
            + "8471877c86866f707f79848e82868b7e7f8372787f7a7e9483788b7f887c8e919c96809282799082"
            + "778e7e767b877184857b9a907a74978c81737a8e858592807d",
        ImageTensors.of(7, 5),
        pattern(23, 17));
    assertNear(
        "748b7780877c71737c88807e7b6f8280917681668386708d8d8079897e87907a807c73769378666d"
            + "896f867c8686696a7e78848e82898c7e7f836f777e78809685798d7f8b769093a29a7f9482799283"
            + "768d7f757c876e82867ca19279709a8f7e6f7a8d878796807b",
        bicubic,
        pattern(23, 17));
    assertNear(
        "7f7b888c7f76847a7b7d7b81838378837c8084828185808588827a877e7d7b7c81877f7d",
        ImageTensors.of(4, 3).filter(Filter.BICUBIC),
        pattern(9, 31));
    assertNear(
        "005dd7086df42287f6389c4e50bb0667df3080fb4a90ff5a0f71891d86a339a8af50c64c6cc1268b"
            + "9d4ba8b16db8c68234980945ad1c65d23a7fff4d9dc364be3080de39a4ef58ba55d50f68a5228c6c"
            + "46bf936db0849b693fc17f548a9a6f5b76e3408d8257b2077bdc259ca051c11377d8239c5c45b200"
            + "9d5667be457fd736a78558d84b81bf3fab6761d4487ce941b2017cd82394e95abe4e7ef71aa2bb61"
            + "c6218df140a4ff6f",
        ImageTensors.of(8, 7).filter(Filter.BICUBIC),
        pattern(5, 4));
  }

  /** PIL 9.4 as well: resized to 20 x 12, then {@code crop((6, 1, 14, 11))}. */
  @Test
  void theMiddleIsCutOutOfTheResizedImage() {
    ImageTensors middle = ImageTensors.of(8, 10).filter(Filter.BICUBIC).crop(12);
    assertEquals(new Placement(-6, -1, 20, 12), middle.placement(pattern(40, 23)));
    assertNear(
        "76697e787a6c8f767f78817c848144874eab4fb256a86088908567787a829d77658d8c5e4e867792"
            + "6f6c5d85968c8e788278826a647b945b6ca078608982826385867168a07073768589a8a78a6c7260"
            + "787d76887c817767769f8e977f725259836d76819789937d7e888b727e717a8785768569665c939c"
            + "b39374a082648d7d759e8b6c987a6b896895778d8a65ae9b74969985628c95759ea08171948a749c"
            + "7e6bac9072bb9b7e735b6a7b796266947d928b93848682707976796863a1826b7d756958758d8a64"
            + "6f956e66868181957b8c6d8d908d656f7a967a8e6c726a6577886b828280779b708b8f7f9d8f9655",
        middle,
        pattern(40, 23));
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(8, 10).crop(9));
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
    ImageTensors digits = // each pixel is a square of the file
        ImageTensors.of(8, 8)
            .layout(Layout.NHW)
            .mean(1)
            .deviation(-1 / 16f)
            .filter(Filter.NEAREST_FOUR);
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
  void impossibleSettingsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(0, 4));
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(4, 4).mean(1, 2));
    assertThrows(IllegalArgumentException.class, () -> ImageTensors.of(4, 4).deviation(0));
  }
}
