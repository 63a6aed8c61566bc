package io.nereid.perf;

import io.nereid.perf.RequestPlan.TensorForm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options for the data of requests. */
final class DataArguments {

  /** The values of {@code --shared-memory}, which perf_analyzer has as well. */
  enum SharedMemory {
    NONE,
    SYSTEM
  }

  @Option(
      names = {"--input-form", "--input-tensor-format"},
      paramLabel = "json|binary|shm",
      description =
          "How inputs travel: within JSON, as binary data, or through system shared memory of this"
              + " machine; binary by default.")
  private TensorForm inputForm;

  @Option(
      names = {"--output-form", "--output-tensor-format"},
      paramLabel = "json|binary|shm",
      description =
          "How outputs travel: as the inputs by default. Shared memory needs"
              + " --output-shared-memory-size where the model does not tell their size.")
  private TensorForm outputForm;

  @Option(
      names = "--shared-memory",
      paramLabel = "none|system",
      description = "'system' is --input-form shm.")
  private SharedMemory sharedMemory;

  @Option(
      names = "--output-shared-memory-size",
      paramLabel = "BYTES",
      defaultValue = "0",
      description = "Room for an output of unknown size.")
  private long outputSize;

  @Option(
      names = "--input-data",
      paramLabel = "random|zero|FILE|DIR",
      defaultValue = "random",
      description =
          "Where inputs come from: random by default; a file of JSON as perf_analyzer reads it; a"
              + " directory with a raw file for each input, by its name.")
  private String source;

  @Option(
      names = "--input",
      paramLabel = "NAME=FILE",
      description = "The raw bytes of one input; the others as --input-data says.")
  private Map<String, Path> files = Map.of();

  @Option(
      names = "--shape",
      paramLabel = "NAME:D,D",
      description = "An input's shape where the model leaves it open, with or without the batch.")
  private List<String> shapes = List.of();

  @Option(
      names = {"-b", "--batch-size"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Rows of a request; ${DEFAULT-VALUE} by default.")
  private int batchSize;

  @Option(
      names = {"--seed", "--random-seed"},
      paramLabel = "N",
      defaultValue = "0",
      description = "Of everything random; ${DEFAULT-VALUE} by default.")
  private long seed;

  @Option(
      names = "--variants",
      paramLabel = "N",
      defaultValue = "1",
      description = "How many different random requests to send in turn; ${DEFAULT-VALUE}.")
  private int variants;

  @Option(
      names = "--random-range",
      paramLabel = "A:B",
      defaultValue = "0:1",
      description = "Of random numbers; 0 to 1 by default, for integers then 0 to 99.")
  private String randomRange;

  @Option(names = "--string-data", paramLabel = "TEXT", description = "Every string to send.")
  private String string;

  @Option(
      names = "--string-length",
      paramLabel = "N",
      defaultValue = "16",
      description = "Characters of a random string; ${DEFAULT-VALUE} by default.")
  private int stringLength;

  @Option(
      names = "--request-parameter",
      paramLabel = "NAME:VALUE:TYPE",
      description = "A parameter of every request; TYPE is bool, int, uint, double or string.")
  private List<String> parameters = List.of();

  @Option(
      names = "--request-ids",
      description =
          "Give each request an id of its own. Without it a server is sent the same bytes again and"
              + " again, and may remember what they mean.")
  private boolean requestIds;

  @Option(
      names = "--check",
      description = "Look into every reply: all outputs, datatypes and sizes. Costs CPU.")
  private boolean check;

  TensorForm inputForm() {
    if (sharedMemory == SharedMemory.SYSTEM) {
      return TensorForm.SHM;
    }
    return inputForm == null ? TensorForm.BINARY : inputForm;
  }

  TensorForm outputForm() {
    return outputForm == null ? inputForm() : outputForm;
  }

  /** True if shared memory was asked for outputs too, not only for inputs. */
  boolean wantsOutputs(TensorForm form) {
    return outputForm == form;
  }

  long outputSize() {
    return outputSize;
  }

  long seed() {
    return seed;
  }

  boolean requestIds() {
    return requestIds;
  }

  boolean checksReplies() {
    return check;
  }

  InputShapes shapes() {
    expect(batchSize >= 1, "-b of 1 or more, got " + batchSize);
    return new InputShapes(shapes(shapes), batchSize);
  }

  /** Reads shapes such as {@code NAME:224,224,3}. */
  static Map<String, List<Long>> shapes(List<String> texts) {
    Map<String, List<Long>> given = new LinkedHashMap<>();
    for (String shape : texts) {
      int colon = shape.lastIndexOf(':');
      expect(colon > 0, "--shape NAME:D,D, got '" + shape + "'");
      List<Long> dims = new ArrayList<>();
      for (String dim : shape.substring(colon + 1).split("[,x]", -1)) {
        expect(dim.matches("[0-9]{1,12}"), "--shape NAME:D,D of numbers, got '" + shape + "'");
        dims.add(Long.valueOf(dim));
      }
      expect(given.put(shape.substring(0, colon), dims) == null, "each --shape once, got another");
    }
    return given;
  }

  InputData.Options data() {
    expect(variants >= 1 && variants <= 10_000, "--variants from 1 to 10000, got " + variants);
    expect(stringLength >= 0 && stringLength <= 1 << 20, "--string-length from 0 to 1048576");
    String[] range = randomRange.split(":", -1);
    try {
      expect(range.length == 2, "--random-range A:B, got '" + randomRange + "'");
      double least = Double.parseDouble(range[0]);
      double most = Double.parseDouble(range[1]);
      expect(least <= most, "--random-range A:B with A up to B, got '" + randomRange + "'");
      boolean zero = source.equals("zero");
      return new InputData.Options(
          source,
          files,
          new InputData.Generated(zero, least, most, string, stringLength),
          seed,
          variants);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "expected --random-range A:B of numbers, got '" + randomRange + "'", e);
    }
  }

  Map<String, Object> parameters() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (String parameter : parameters) {
      String[] parts = parameter.split(":", 3);
      expect(parts.length >= 2, "--request-parameter NAME:VALUE:TYPE, got '" + parameter + "'");
      String type = parts.length == 2 ? "string" : parts[2];
      try {
        all.put(
            parts[0],
            switch (type) {
              case "bool" -> Boolean.parseBoolean(parts[1]);
              case "int", "uint" -> Long.valueOf(parts[1]);
              case "double" -> Double.valueOf(parts[1]);
              case "string" -> parts[1];
              default ->
                  throw new IllegalArgumentException(
                      "expected the type bool, int, uint, double or string, got '" + type + "'");
            });
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "expected a number in --request-parameter, got '" + parameter + "'", e);
      }
    }
    return all;
  }

  /** Throws an {@link IllegalArgumentException} with {@code what} unless {@code holds}. */
  static void expect(boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException("expected " + what);
    }
  }
}
