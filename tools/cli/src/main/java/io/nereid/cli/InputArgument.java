package io.nereid.cli;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.Names;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * One {@code --input NAME=VALUE} of {@code nereid infer}. The value is a list separated by commas,
 * a JSON array, or {@code @FILE}, which contains JSON if its name ends in {@code .json}, else the
 * tensor's bytes.
 */
record InputArgument(String name, String value) {

  /** Parses an argument for picocli. */
  static final class Converter implements ITypeConverter<InputArgument> {
    @Override
    public InputArgument convert(String text) {
      int at = text.indexOf('=');
      if (at < 1) {
        throw new TypeConversionException("expected NAME=VALUE, got '" + text + "'");
      }
      return new InputArgument(text.substring(0, at), text.substring(at + 1));
    }
  }

  /** The tensor for the model's input; {@code shape} null: derived from the number of values. */
  Tensor tensor(ModelSpec model, long[] shape) throws IOException {
    TensorSpec spec =
        model.inputs().stream()
            .filter(input -> input.name().equals(name))
            .findFirst()
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "unexpected inference input '"
                        + name
                        + "' for model '"
                        + model.name()
                        + "'"
                        + Names.hint(
                            "it has",
                            name,
                            model.inputs().stream().map(TensorSpec::name).toList())));
    boolean batched = model.maxBatchSize() > 0;
    long[] given = shape == null ? null : complete(spec, shape, batched);
    if (value.startsWith("@") && !value.endsWith(".json")) {
      byte[] bytes = Files.readAllBytes(Path.of(value.substring(1)));
      return ofBytes(spec, bytes, given, batched);
    }
    List<String> values = values();
    return TextTensor.of(
        spec, values, given == null ? configured(spec, values.size(), batched) : given);
  }

  /**
   * Makes random values for an input: from 0 to 1, whole numbers from 0 to 9, or such numbers as
   * text.
   *
   * @param shape null: one row, and 1 for each other dimension of any size
   */
  static Tensor random(ModelSpec model, TensorSpec spec, long[] shape) {
    boolean batched = model.maxBatchSize() > 0;
    long[] given = shape;
    if (given == null) {
      given = spec.dims().stream().mapToLong(dim -> Math.max(dim, 1)).toArray();
    }
    long[] whole = complete(spec, given, batched);
    Random chance = new Random();
    List<String> values =
        LongStream.range(0, elementCount(whole))
            .mapToObj(i -> random(spec.dataType(), chance))
            .toList();
    return TextTensor.of(spec, values, whole);
  }

  private static String random(DataType type, Random chance) {
    return switch (type) {
      case FP16, BF16, FP32, FP64 -> Float.toString(chance.nextFloat());
      case BOOL -> Boolean.toString(chance.nextBoolean());
      default -> Integer.toString(chance.nextInt(10));
    };
  }

  private static Tensor ofBytes(TensorSpec spec, byte[] bytes, long[] given, boolean batched) {
    long size = Math.max(1, spec.dataType().byteSize());
    if (bytes.length % size != 0) {
      throw new IllegalArgumentException(
          "expected a file of whole "
              + spec.dataType()
              + " elements, "
              + size
              + " bytes each, for input '"
              + spec.name()
              + "', got "
              + bytes.length
              + " bytes");
    }
    // The bytes of a file for strings are one element, unless a shape is given.
    long count = spec.dataType().isFixedSize() ? bytes.length / size : 1;
    long[] shape = given == null ? configured(spec, count, batched) : given;
    return Tensor.of(spec.dataType(), MemorySegment.ofArray(bytes), shape);
  }

  private List<String> values() throws IOException {
    String text = value.startsWith("@") ? Files.readString(Path.of(value.substring(1))) : value;
    if (text.isBlank()) {
      return List.of();
    }
    if (!text.stripLeading().startsWith("[")) {
      return Arrays.stream(text.strip().split(",", -1)).map(String::strip).toList();
    }
    List<String> values = new ArrayList<>();
    flatten(parse(text), values);
    return values;
  }

  private List<?> parse(String text) {
    try {
      return JSON.std.listFrom(text);
    } catch (JacksonException e) {
      throw new IllegalArgumentException(
          "input '" + name + "' is no JSON array: " + e.getOriginalMessage(), e);
    }
  }

  private void flatten(List<?> list, List<String> into) {
    for (Object element : list) {
      switch (element) {
        case List<?> inner -> flatten(inner, into);
        case String text -> into.add(text);
        case Number number -> into.add(number.toString());
        case Boolean truth -> into.add(truth.toString());
        case null, default ->
            throw new IllegalArgumentException(
                "expected numbers, strings, true or false in the array of input '"
                    + name
                    + "', got "
                    + element);
      }
    }
  }

  // ---- Shapes -----------------------------------------------------------------------------------

  /** Parses a shape such as {@code 1x16}. */
  static long[] shape(String name, String text) {
    // 18 digits always fit a long.
    if (!text.matches("[0-9]{1,18}(x[0-9]{1,18})*")) {
      throw new IllegalArgumentException(
          "expected --shape "
              + name
              + " as sizes with x between them, such as 1x16, got '"
              + text
              + "'");
    }
    return Arrays.stream(text.split("x")).mapToLong(Long::parseLong).toArray();
  }

  /** The number of a shape's elements. */
  private static long elementCount(long... shape) {
    long count = 1;
    for (long dim : shape) {
      try {
        count = Math.multiplyExact(count, dim);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "shape " + Arrays.toString(shape) + " has too many elements", e);
      }
    }
    return count;
  }

  /** The given shape, with the batch dimension in front if only that is missing. */
  private static long[] complete(TensorSpec spec, long[] shape, boolean batched) {
    return batched && shape.length == spec.dims().size() ? withBatch(1, shape) : shape;
  }

  /** The configured shape, with its one free dimension (or the batch's) computed from the count. */
  private static long[] configured(TensorSpec spec, long count, boolean batched) {
    long[] dims = spec.dims().stream().mapToLong(Long::longValue).toArray();
    int open = -1;
    for (int i = 0; i < dims.length; i++) {
      if (dims[i] >= 0) {
        continue;
      }
      if (open >= 0) {
        throw new IllegalArgumentException(
            "input '"
                + spec.name()
                + "' has several dimensions of any size, "
                + spec.dims()
                + ": expected --shape "
                + spec.name()
                + "=... with it");
      }
      open = i;
      dims[i] = 1;
    }
    long known = elementCount(dims);
    long rest = known == 0 ? 0 : count / known;
    if (known * rest != count || (open < 0 && rest != 1 && (!batched || rest == 0))) {
      throw new IllegalArgumentException(
          "expected "
              + (open >= 0 || batched ? "a multiple of " : "")
              + known
              + " values for input '"
              + spec.name()
              + "' "
              + spec.dataType()
              + spec.dims()
              + ", got "
              + count);
    }
    if (open >= 0) {
      dims[open] = rest;
      return batched ? withBatch(1, dims) : dims;
    }
    return batched ? withBatch(rest, dims) : dims;
  }

  private static long[] withBatch(long size, long[] dims) {
    long[] shape = new long[dims.length + 1];
    shape[0] = size;
    System.arraycopy(dims, 0, shape, 1, dims.length);
    return shape;
  }

  /** Makes tensors from values as people write them. */
  private static final class TextTensor {

    private static final ValueLayout.OfShort SHORT =
        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT =
        ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private TextTensor() {}

    static Tensor of(TensorSpec spec, List<String> values, long[] shape) {
      DataType type = spec.dataType();
      checkShape(spec, values.size(), shape);
      try {
        return switch (type) {
          case BYTES -> Tensor.ofStrings(values.toArray(String[]::new), shape);
          case FP16, BF16 -> Tensor.ofHalfFloats(type, floats(values), shape);
          case FP32 -> Tensor.ofFloats(floats(values), shape);
          case FP64 -> Tensor.ofDoubles(doubles(values), shape);
          default -> Tensor.of(type, integers(type, values), shape);
        };
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("input '" + spec.name() + "': " + e.getMessage(), e);
      }
    }

    private static void checkShape(TensorSpec spec, long count, long[] shape) {
      long needed = elementCount(shape);
      if (needed != count) {
        throw new IllegalArgumentException(
            "input '"
                + spec.name()
                + "': shape "
                + Arrays.toString(shape)
                + " takes "
                + needed
                + " values, got "
                + count);
      }
    }

    private static double[] doubles(List<String> values) {
      double[] doubles = new double[values.size()];
      for (int i = 0; i < doubles.length; i++) {
        try {
          doubles[i] = Double.parseDouble(values.get(i));
        } catch (NumberFormatException e) {
          throw wrong(i, "a number", values.get(i));
        }
      }
      return doubles;
    }

    private static float[] floats(List<String> values) {
      double[] doubles = doubles(values);
      float[] floats = new float[doubles.length];
      for (int i = 0; i < floats.length; i++) {
        // Not a cast of the double, which would round twice.
        floats[i] = Float.parseFloat(values.get(i));
      }
      return floats;
    }

    private static NumberFormatException wrong(int index, String expected, String got) {
      return new NumberFormatException(
          "expected " + expected + " as value " + (index + 1) + ", got '" + got + "'");
    }

    private static MemorySegment integers(DataType type, List<String> values) {
      int size = type.byteSize();
      MemorySegment segment = MemorySegment.ofArray(new byte[values.size() * size]);
      for (int i = 0; i < values.size(); i++) {
        long number = integer(type, i, values.get(i));
        long at = (long) i * size;
        switch (size) {
          case 1 -> segment.set(ValueLayout.JAVA_BYTE, at, (byte) number);
          case 2 -> segment.set(SHORT, at, (short) number);
          case 4 -> segment.set(INT, at, (int) number);
          default -> segment.set(LONG, at, number);
        }
      }
      return segment;
    }

    private static long integer(DataType type, int index, String text) {
      if (type == DataType.BOOL) {
        return switch (text) {
          case "true", "1" -> 1;
          case "false", "0" -> 0;
          default -> throw wrong(index, "true or false", text);
        };
      }
      int bits = 8 * type.byteSize();
      boolean unsigned = type.name().startsWith("U");
      BigInteger least = unsigned ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(bits - 1).negate();
      BigInteger most =
          BigInteger.ONE.shiftLeft(unsigned ? bits : bits - 1).subtract(BigInteger.ONE);
      String expected = type + " from " + least + " to " + most;
      if (!text.matches("[+-]?[0-9]{1,20}")) {
        throw wrong(index, expected, text);
      }
      BigInteger number = new BigInteger(text);
      if (number.compareTo(least) < 0 || number.compareTo(most) > 0) {
        throw wrong(index, expected, text);
      }
      return number.longValue();
    }
  }
}
