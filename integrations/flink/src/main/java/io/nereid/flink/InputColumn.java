package io.nereid.flink;

import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/** Makes tensors from the values of an input column. One thread at a time calls it. */
final class InputColumn {

  private static final int INITIAL_BYTES = 256;

  private final Column column;
  private final TensorInfo tensor;
  private final RowData.FieldGetter field;
  private final Level[] levels; // one for each nested array or row
  private final boolean isBinary; // the bytes of a value are the tensor's elements
  private final boolean isFloats; // elements are copied, without an object for each
  private ByteBuffer bytes;

  InputColumn(Column column, int index, TensorInfo tensor) {
    this.column = column;
    this.tensor = tensor;
    field = RowData.createFieldGetter(column.type().copy(true), index);
    LogicalTypeRoot element = column.element().getTypeRoot();
    if (!DataTypes.inputs(element).contains(tensor.dataType())) {
      throw new IllegalArgumentException(
          "column '%s' is %s and input '%s' %s: expected a type without loss, see CAST"
              .formatted(
                  column.name(),
                  column.type().asSummaryString(),
                  tensor.name(),
                  tensor.dataType()));
    }
    levels = levels(column);
    isFloats = tensor.dataType() == DataType.FP32 && element == LogicalTypeRoot.FLOAT;
    isBinary =
        tensor.dataType() != DataType.BYTES
            && (element == LogicalTypeRoot.BINARY || element == LogicalTypeRoot.VARBINARY);
  }

  /** Reads the values of one dimension, which are those of an array or of a row. */
  private interface Level {
    int size(Object values);

    Object get(Object values, int index);
  }

  private record ArrayLevel(ArrayData.ElementGetter getter) implements Level {
    @Override
    public int size(Object values) {
      return ((ArrayData) values).size();
    }

    @Override
    public Object get(Object values, int index) {
      return getter.getElementOrNull((ArrayData) values, index);
    }
  }

  private record RowLevel(RowData.FieldGetter[] getters) implements Level {
    @Override
    public int size(Object values) {
      return getters.length;
    }

    @Override
    public Object get(Object values, int index) {
      return getters[index].getFieldOrNull((RowData) values);
    }
  }

  private static Level[] levels(Column column) {
    Level[] levels = new Level[column.rank()];
    LogicalType type = column.type();
    for (int i = 0; i < levels.length; i++) {
      if (type instanceof ArrayType array) {
        type = array.getElementType().copy(true);
        levels[i] = new ArrayLevel(ArrayData.createElementGetter(type));
      } else {
        RowData.FieldGetter[] getters = new RowData.FieldGetter[((RowType) type).getFieldCount()];
        type = ((RowType) type).getTypeAt(0).copy(true);
        for (int field = 0; field < getters.length; field++) {
          getters[field] = RowData.createFieldGetter(type, field);
        }
        levels[i] = new RowLevel(getters);
      }
    }
    return levels;
  }

  /** Returns the tensor of a row; null: the column is NULL. */
  TensorValue value(RowData row) {
    Object value = field.getFieldOrNull(row);
    if (value == null) {
      return null;
    }
    long[] dims = new long[column.rank() + (isBinary ? 1 : 0)];
    Arrays.fill(dims, -1);
    bytes = ByteBuffer.allocate(INITIAL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    append(value, dims, 0);
    return new TensorValue(
        tensor.name(), tensor.dataType(), Shape.ofInput(tensor, dims), bytes.flip());
  }

  private void append(Object value, long[] dims, int depth) {
    if (value == null) {
      missing();
    }
    if (depth < levels.length) {
      Level level = levels[depth];
      int size = level.size(value);
      enter(size, dims, depth);
      if (isFloats && depth == levels.length - 1 && value instanceof ArrayData floats) {
        putFloats(floats);
        return;
      }
      for (int i = 0; i < size; i++) {
        append(level.get(value, i), dims, depth + 1);
      }
      fillEmpty(size, dims, depth + 1);
    } else if (isBinary) {
      byte[] elements = (byte[]) value;
      enter(elements.length, dims, depth);
      room(elements.length).put(elements);
    } else {
      put(value);
    }
  }

  /** Enters an array; all arrays of a dimension must have the same size. */
  private void enter(int size, long[] dims, int depth) {
    if (dims[depth] >= 0 && dims[depth] != size) {
      throw new IllegalArgumentException(
          "column '%s' has arrays of %d and of %d elements: expected equal sizes"
              .formatted(column.name(), dims[depth], size));
    }
    dims[depth] = size;
  }

  private void putFloats(ArrayData floats) {
    ByteBuffer to = room(Math.multiplyExact(floats.size(), Float.BYTES));
    for (int i = 0; i < floats.size(); i++) {
      to.putFloat(floats.isNullAt(i) ? missing() : floats.getFloat(i));
    }
  }

  private float missing() {
    throw new IllegalArgumentException(
        "column '" + column.name() + "' has a NULL inside: expected a value for each element");
  }

  /** Fills the dimensions below an empty array, which does not show them. */
  private static void fillEmpty(int size, long[] dims, int depth) {
    if (size == 0) {
      for (int i = depth; i < dims.length; i++) {
        dims[i] = Math.max(dims[i], 0);
      }
    }
  }

  private void put(Object value) {
    switch (tensor.dataType()) {
      case BOOL -> room(1).put((byte) ((Boolean) value ? 1 : 0));
      case INT8 -> room(1).put((byte) integer(value, Byte.MIN_VALUE, Byte.MAX_VALUE));
      case UINT8 -> room(1).put((byte) integer(value, 0, 0xFF));
      case INT16 -> room(2).putShort((short) integer(value, Short.MIN_VALUE, Short.MAX_VALUE));
      case UINT16 -> room(2).putShort((short) integer(value, 0, 0xFFFF));
      case INT32 -> room(4).putInt((int) integer(value, Integer.MIN_VALUE, Integer.MAX_VALUE));
      case UINT32 -> room(4).putInt((int) integer(value, 0, 0xFFFF_FFFFL));
      case INT64 -> room(8).putLong(integer(value, Long.MIN_VALUE, Long.MAX_VALUE));
      case UINT64 -> room(8).putLong(integer(value, 0, Long.MAX_VALUE));
      case FP16, BF16 -> room(2).putShort(HalfPrecision.ofFloat(tensor.dataType(), (Float) value));
      case FP32 -> room(4).putFloat(number(value).floatValue());
      case FP64 -> room(8).putDouble(number(value).doubleValue());
      case BYTES -> {
        byte[] text = value instanceof StringData string ? string.toBytes() : (byte[]) value;
        room(Integer.BYTES + text.length).putInt(text.length).put(text);
      }
    }
  }

  private long integer(Object value, long low, long high) {
    long integer =
        value instanceof TimestampData time ? time.getMillisecond() : ((Number) value).longValue();
    if (integer < low || integer > high) {
      throw new IllegalArgumentException(
          "column '%s' has %d: expected %d to %d for %s"
              .formatted(column.name(), integer, low, high, tensor.dataType()));
    }
    return integer;
  }

  private static Number number(Object value) {
    return value instanceof DecimalData decimal ? decimal.toBigDecimal() : (Number) value;
  }

  private ByteBuffer room(int byteSize) {
    if (bytes.remaining() < byteSize) {
      int grown = Math.max(2 * bytes.capacity(), Math.addExact(bytes.position(), byteSize));
      bytes = ByteBuffer.allocate(grown).order(ByteOrder.LITTLE_ENDIAN).put(bytes.flip());
    }
    return bytes;
  }
}
