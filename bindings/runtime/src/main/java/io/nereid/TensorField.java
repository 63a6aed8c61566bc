package io.nereid;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.reflect.RecordComponent;
import java.nio.Buffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.Map;

/**
 * Pairs a component of a record with the input or output that it stands for, and converts between
 * its values and tensors. Checked at construction, immutable.
 */
final class TensorField {

  private static final Map<Class<?>, Class<?>> BUFFERS =
      Map.of(
          FloatBuffer.class, float.class,
          DoubleBuffer.class, double.class,
          IntBuffer.class, int.class,
          LongBuffer.class, long.class,
          ShortBuffer.class, short.class);

  private final String model;
  private final TensorSpec spec;
  private final long[] dims; // the whole tensor's; -1 for free dimensions
  private final boolean hasRows; // the first dimension is the batch
  private final String where;
  private final Class<?> type;
  private final Class<?> element;
  private final int depth; // nesting of the arrays; 0 for a single value and for a tensor

  TensorField(
      ModelSpec model, String what, TensorSpec spec, String recordName, RecordComponent component) {
    this.model = model.name();
    this.spec = spec;
    dims = dims(model, spec);
    hasRows = dims.length > spec.dims().size();
    type = component.getType();
    where = "component '" + component.getName() + "' of record " + recordName;
    boolean isInput = what.equals("input");
    Class<?> inner = BUFFERS.getOrDefault(type, type);
    int arrays = isBuffer() ? 1 : 0;
    while (inner.isArray()) {
      inner = inner.getComponentType();
      arrays++;
    }
    element = inner;
    depth = arrays;
    String got = type.getSimpleName();
    if (!isTensor() && !fits(element)) {
      throw doesNotFit(what, "elements of " + elements() + ", got " + got);
    }
    if (isBuffer() && (!isInput || isHalf() && element == float.class)) {
      throw doesNotFit(what, "an array or a Tensor, got " + got);
    }
    if (depth > 1 && depth != dims.length && !(hasRows && depth == dims.length - 1)) {
      throw doesNotFit(what, "an array with " + dims.length + " dimensions, got " + got);
    }
    long free = spec.dims().stream().filter(dim -> dim < 0).count();
    if (isInput && depth == 1 && free > 1 && dims.length > 1) {
      throw doesNotFit(
          what,
          "an array with %s dimensions or a Tensor, as several are free, got %s"
              .formatted(dims.length, got));
    }
    if (depth == 0 && !isTensor() && spec.dims().stream().anyMatch(dim -> dim > 1 || dim == 0)) {
      throw doesNotFit(what, "an array or a Tensor, got a single " + got);
    }
  }

  private static long[] dims(ModelSpec model, TensorSpec spec) {
    boolean rows = model.maxBatchSize() > 0;
    long[] dims = new long[spec.dims().size() + (rows ? 1 : 0)];
    if (rows) {
      dims[0] = -1;
    }
    for (int i = 0; i < spec.dims().size(); i++) {
      dims[i + (rows ? 1 : 0)] = spec.dims().get(i);
    }
    return dims;
  }

  /** Describes type and shape, the batch dimension included. */
  static String described(ModelSpec model, TensorSpec spec) {
    return spec.dataType() + " " + Arrays.toString(dims(model, spec));
  }

  private IllegalArgumentException doesNotFit(String what, String expected) {
    return new IllegalArgumentException(
        "%s does not fit %s '%s' of model '%s', %s %s: expected %s"
            .formatted(
                where, what, spec.name(), model, spec.dataType(), Arrays.toString(dims), expected));
  }

  private boolean isTensor() {
    return type == Tensor.class;
  }

  private boolean isBuffer() {
    return BUFFERS.containsKey(type);
  }

  private boolean fits(Class<?> given) {
    return elements().equals(given.getSimpleName())
        || elements().endsWith(" " + given.getSimpleName())
        || isHalf() && given == float.class;
  }

  private boolean isHalf() {
    return spec.dataType() == DataType.FP16 || spec.dataType() == DataType.BF16;
  }

  /** The types of Java that an element may have, in words. */
  private String elements() {
    return switch (spec.dataType()) {
      case BOOL -> "boolean";
      case UINT8, INT8 -> "byte";
      case UINT16, INT16 -> "short";
      case UINT32, INT32 -> "int";
      case UINT64, INT64 -> "long";
      case FP16, BF16 -> "float or short";
      case FP32 -> "float";
      case FP64 -> "double";
      case BYTES -> "String";
    };
  }

  String name() {
    return spec.name();
  }

  String where() {
    return where;
  }

  boolean mayBeLeftOut() {
    return spec.optional();
  }

  /** Throws if a value is a view, which becomes invalid with the response. */
  void checkOutlives() {
    if (isTensor()) {
      throw new IllegalStateException(
          where + " is a view that ends with the response: use fill(…), infer() and read(…)");
    }
  }

  // ---- Values to tensors ----------------------------------------------------------------------

  Tensor tensor(Object value) {
    if (value instanceof Tensor tensor) {
      return tensor;
    }
    if (value instanceof Buffer buffer) {
      return typed(Tensor.of(buffer, shape(buffer.remaining())));
    }
    if (depth > 1) {
      return nested(Tensor.ofArray(value));
    }
    Object flat = depth == 1 ? value : single(value);
    if (isHalf() && flat instanceof float[] floats) {
      return Tensor.ofHalfFloats(spec.dataType(), floats, shape(floats.length));
    }
    Tensor elements = Tensor.ofArray(flat);
    return typed(elements.reshape(shape(elements.elementCount())));
  }

  private Tensor nested(Tensor all) {
    long[] shape = all.shape();
    if (depth < dims.length) {
      long[] row = new long[dims.length];
      row[0] = 1;
      System.arraycopy(shape, 0, row, 1, depth);
      shape = row;
    }
    return isHalf() && element == float.class
        ? Tensor.ofHalfFloats(spec.dataType(), all.toFloatArray(), shape)
        : typed(all.reshape(shape));
  }

  /** Returns the tensor's memory with the model's type, which has elements of the same size. */
  private Tensor typed(Tensor tensor) {
    return tensor.dataType() == spec.dataType()
        ? tensor
        : Tensor.of(spec.dataType(), tensor.segment(), tensor.shape());
  }

  private static Object single(Object value) {
    return switch (value) {
      case Float one -> new float[] {one};
      case Double one -> new double[] {one};
      case Long one -> new long[] {one};
      case Integer one -> new int[] {one};
      case Short one -> new short[] {one};
      case Byte one -> new byte[] {one};
      case Boolean one -> new boolean[] {one};
      default -> new String[] {(String) value};
    };
  }

  /** The shape for a number of elements, from which the free dimension is computed. */
  private long[] shape(long count) {
    long[] shape = dims.clone();
    int free = -1;
    long fixed = 1;
    for (int i = 0; i < shape.length; i++) {
      if (shape[i] < 0) {
        if (free >= 0) {
          shape[free] = 1; // a batch of one row, whose own dimension is free
        }
        free = i;
      } else {
        fixed *= shape[i];
      }
    }
    boolean fits = free < 0 ? count == fixed : fixed > 0 && count % fixed == 0;
    if (!fits) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "%s has %d elements: input '%s' of model '%s' is %s %s, which takes %s%d"
              .formatted(
                  where,
                  count,
                  spec.name(),
                  model,
                  spec.dataType(),
                  Arrays.toString(dims),
                  free < 0 ? "" : "a multiple of ",
                  fixed));
    }
    if (free >= 0) {
      shape[free] = count / fixed;
    }
    return shape;
  }

  // ---- Tensors to values ----------------------------------------------------------------------

  Object value(Tensor tensor) {
    if (isTensor()) {
      return tensor;
    }
    if (depth == 0) {
      checkSingle(tensor, tensor.elementCount(), "element");
      return single(tensor);
    }
    if (depth == 1) {
      return (tensor.rank() == 1 ? tensor : tensor.reshape(tensor.elementCount())).toArray(type);
    }
    if (depth < dims.length) {
      checkSingle(tensor, tensor.dim(0), "row");
      return tensor.row(0).toArray(type);
    }
    return tensor.toArray(type);
  }

  private void checkSingle(Tensor tensor, long count, String what) {
    if (count != 1) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "%s is for one %s: output '%s' of model '%s' is %s"
              .formatted(where, what, spec.name(), model, tensor));
    }
  }

  private Object single(Tensor tensor) {
    if (element == short.class && isHalf()) {
      return tensor.toShortArray()[0];
    }
    // The cases are apart because a conditional expression would make all values doubles.
    return switch (element.getSimpleName()) {
      case "float" -> Float.valueOf(tensor.floatAt(0));
      case "double" -> Double.valueOf(tensor.doubleAt(0));
      case "long" -> Long.valueOf(tensor.longAt(0));
      case "int" -> Integer.valueOf((int) tensor.longAt(0));
      case "short" -> Short.valueOf((short) tensor.longAt(0));
      case "byte" -> Byte.valueOf((byte) tensor.longAt(0));
      case "boolean" -> Boolean.valueOf(tensor.booleanAt(0));
      default -> tensor.stringAt(0);
    };
  }
}
