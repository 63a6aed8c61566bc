package io.nereid.perf;

import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.Names;
import io.nereid.types.Shapes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The data of all requests, as sequences of steps. Single requests are the steps of one sequence.
 *
 * @param sequences at least one, each with at least one step
 * @param ownLengths whether the data decides the lengths of sequences
 */
record InputData(List<List<Step>> sequences, boolean ownLengths) {

  /**
   * The source of the data.
   *
   * @param source {@code random}, {@code zero}, a file of JSON, or a directory with a file an input
   * @param files raw files of single inputs, in place of the source
   * @param generated makes the inputs that no file has
   * @param seed of the random numbers
   * @param variants how many different random requests
   */
  record Options(
      String source, Map<String, Path> files, Generated generated, long seed, int variants) {}

  static InputData read(ModelInfo model, InputShapes shapes, Options options) {
    shapes.check(model);
    for (String name : options.files().keySet()) {
      if (model.inputs().stream().noneMatch(input -> input.name().equals(name))) {
        throw new PerfException(
            "model '"
                + model.name()
                + "' has no input '"
                + name
                + "' of --input"
                + Names.hint(
                    "it has", name, model.inputs().stream().map(TensorInfo::name).toList()));
      }
    }
    try {
      if (options.source().equals("random") || options.source().equals("zero")) {
        return generated(model, shapes, options, null);
      }
      Path path = Path.of(options.source());
      return Files.isDirectory(path)
          ? generated(model, shapes, options, path)
          : JsonInputs.read(path, model, shapes);
    } catch (IOException e) {
      throw new PerfException("the input data cannot be read: " + e.getMessage(), e);
    }
  }

  private static InputData generated(
      ModelInfo model, InputShapes shapes, Options options, Path directory) throws IOException {
    Random random = new Random(options.seed());
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < options.variants(); i++) {
      List<Tensor> tensors = new ArrayList<>();
      for (TensorInfo input : model.inputs()) {
        Path file = options.files().get(input.name());
        if (file == null && directory != null) {
          file = directory.resolve(input.name());
          if (!Files.exists(file) && model.optionalInputs().contains(input.name())) {
            continue;
          }
        }
        tensors.add(
            file == null
                ? options.generated().tensor(input, shapes.of(model, input), random)
                : raw(model, shapes, input, Files.readAllBytes(file), "in " + file));
      }
      steps.add(new Step(tensors));
    }
    return new InputData(List.of(steps), false);
  }

  /** Makes a tensor of raw bytes: of the whole batch, or of one row, which is repeated. */
  static Tensor raw(
      ModelInfo model, InputShapes shapes, TensorInfo input, byte[] bytes, String where) {
    long[] shape = shapes.of(model, input);
    long elements = Shapes.elementCount(shape);
    if (ElementCodec.fits(input.type(), elements, bytes)) {
      return new Tensor(input, shape, bytes);
    }
    long rows = model.batched() && shape.length > 0 ? shape[0] : 1;
    if (rows > 1 && ElementCodec.fits(input.type(), elements / rows, bytes)) {
      byte[] all = new byte[Math.toIntExact(bytes.length * rows)];
      for (int i = 0; i < rows; i++) {
        System.arraycopy(bytes, 0, all, i * bytes.length, bytes.length);
      }
      return new Tensor(input, shape, all);
    }
    String expected =
        input.type() == DataType.BYTES
            ? elements + " strings, each after its length in 4 bytes"
            : elements * input.type().byteSize() + " bytes";
    throw new PerfException(
        "expected %s for input '%s' of type %s and shape %s, got %s bytes %s"
            .formatted(
                expected, input.name(), input.type(), Arrays.toString(shape), bytes.length, where));
  }

  /** All steps of all sequences, one after another. */
  List<Step> steps() {
    return sequences.stream().flatMap(List::stream).toList();
  }

  /**
   * The data of one request.
   *
   * @param inputs its inputs
   */
  record Step(List<Tensor> inputs) {

    long byteSize() {
      return inputs.stream().mapToLong(input -> input.bytes().length).sum();
    }
  }

  /**
   * One input of one request.
   *
   * @param info the model's description of the input
   * @param shape its shape, the batch included
   * @param bytes its elements, little-endian
   */
  record Tensor(TensorInfo info, long[] shape, byte[] bytes) {}

  /**
   * Generates tensors.
   *
   * @param zero all elements are zero, strings empty
   * @param least of numbers
   * @param most of numbers, exclusive unless it equals the least
   * @param string every string; null: random ones
   * @param stringLength characters of a random string
   */
  record Generated(boolean zero, double least, double most, String string, int stringLength) {

    /** Generates a tensor, the same for the same state of the random generator. */
    Tensor tensor(TensorInfo input, long[] shape, Random random) {
      int count = Math.toIntExact(Shapes.elementCount(shape));
      DataType type = input.type();
      if (type == DataType.BYTES) {
        return new Tensor(input, shape, strings(count, random));
      }
      ByteBuffer out = ByteBuffer.allocate(count * type.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count && !zero; i++) {
        double value = least + random.nextDouble() * (most - least);
        switch (type) {
          case BOOL -> out.put((byte) (random.nextBoolean() ? 1 : 0));
          case FP16 -> out.putShort(HalfPrecision.floatToFp16((float) value));
          case BF16 -> out.putShort(HalfPrecision.floatToBf16((float) value));
          case FP32 -> out.putFloat((float) value);
          case FP64 -> out.putDouble(value);
          default -> ElementCodec.putInteger(out, type.byteSize(), whole(type, value));
        }
      }
      return new Tensor(input, shape, out.array());
    }

    /** Makes a whole number; the default range, which has only one, counts in hundredths. */
    private long whole(DataType type, double value) {
      long number = (long) Math.floor(least == 0 && most == 1 ? value * 100 : value);
      return type.name().startsWith("U") ? Math.max(0, number) : number;
    }

    private byte[] strings(int count, Random random) {
      byte[][] strings = new byte[count][];
      for (int i = 0; i < count; i++) {
        strings[i] = text(random);
      }
      return ElementCodec.bytes(strings);
    }

    private byte[] text(Random random) {
      if (string != null) {
        return string.getBytes(StandardCharsets.UTF_8);
      }
      byte[] text = new byte[zero ? 0 : stringLength];
      for (int i = 0; i < text.length; i++) {
        text[i] = (byte) ('a' + random.nextInt(26));
      }
      return text;
    }
  }
}
