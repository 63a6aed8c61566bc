package io.nereid.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * What the requests carry: sequences of steps, of which one that is made of single requests has one
 * only.
 *
 * @param sequences at least one, each with at least one step
 * @param ownLengths whether the data says how long sequences are
 */
record InputData(List<List<Step>> sequences, boolean ownLengths) {

  /**
   * Where it comes from.
   *
   * @param source {@code random}, {@code zero}, a file of JSON, or a directory with a file an input
   * @param files raw files of single inputs, in place of the source
   * @param generated for what no file has
   * @param seed of the random numbers
   * @param variants how many different random requests
   */
  record Options(
      String source, Map<String, Path> files, GeneratedData generated, long seed, int variants) {}

  static InputData read(ModelInfo model, InputShapes shapes, Options options) {
    shapes.check(model);
    for (String name : options.files().keySet()) {
      if (model.inputs().stream().noneMatch(input -> input.name().equals(name))) {
        throw new PerfException(
            "expected --input of an input of model '"
                + model.name()
                + "', which has "
                + model.inputs().stream().map(TensorInfo::name).toList()
                + ", got '"
                + name
                + "'");
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

  /** A tensor of raw bytes: of the whole batch, or of one row, which is then repeated. */
  static Tensor raw(
      ModelInfo model, InputShapes shapes, TensorInfo input, byte[] bytes, String where) {
    long[] shape = shapes.of(model, input);
    long elements = InputShapes.elementCount(shape);
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
        "expected "
            + expected
            + " for input '"
            + input.name()
            + "' of type "
            + input.type()
            + " and shape "
            + Arrays.toString(shape)
            + ", got "
            + bytes.length
            + " bytes "
            + where);
  }

  /** The same inputs, made to fill one step after another. */
  List<Step> steps() {
    return sequences.stream().flatMap(List::stream).toList();
  }
}
