package io.nereid.cli;

import io.nereid.ModelSpec;
import io.nereid.TensorSpec;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * One {@code NAME=VALUE} of {@code nereid infer}: values with commas between them, a JSON array, or
 * {@code @FILE}, which holds JSON when its name ends in {@code .json} and the tensor's bytes
 * otherwise.
 */
record InputArgument(String name, String value) {

  /** For picocli. */
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

  /** The tensor for the model's input; {@code shape} null: made from the number of values. */
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
                        + "', it has "
                        + model.inputs().stream().map(TensorSpec::name).toList()));
    boolean batched = model.maxBatchSize() > 0;
    long[] given = shape == null ? null : InputShape.complete(spec, shape, batched);
    if (value.startsWith("@") && !value.endsWith(".json")) {
      byte[] bytes = Files.readAllBytes(Path.of(value.substring(1)));
      return ofBytes(spec, bytes, given, batched);
    }
    List<String> values = values();
    return TextTensor.of(
        spec, values, given == null ? InputShape.of(spec, values.size(), batched) : given);
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
    // How many elements the bytes of strings are is theirs to say: one, unless a shape is given.
    long count = spec.dataType().isFixedSize() ? bytes.length / size : 1;
    long[] shape = given == null ? InputShape.of(spec, count, batched) : given;
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
}
