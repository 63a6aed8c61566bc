package io.nereid.flink;

import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/** Makes the values of an output column from tensors. Any thread may call it. */
final class OutputColumn {

  private final Column column;
  private final TensorInfo tensor;

  OutputColumn(Column column, TensorInfo tensor) {
    this.column = column;
    this.tensor = tensor;
    if (!DataTypes.outputs(column.element().getTypeRoot()).contains(tensor.dataType())) {
      throw new IllegalArgumentException(
          "column '%s' is %s and output '%s' %s: expected a column that holds all of its values"
              .formatted(
                  column.name(),
                  column.type().asSummaryString(),
                  tensor.name(),
                  tensor.dataType()));
    }
  }

  String tensorName() {
    return tensor.name();
  }

  Object value(TensorValue value) {
    long[] dims = Shape.ofOutput(tensor.name(), column.rank(), value.shape());
    return read(
        value.bytes().duplicate().order(ByteOrder.LITTLE_ENDIAN),
        value.dataType(),
        column.type(),
        dims,
        0);
  }

  private Object read(ByteBuffer from, DataType of, LogicalType type, long[] dims, int depth) {
    if (type instanceof ArrayType array) {
      int size = Math.toIntExact(dims[depth]);
      Object[] elements = elements(array.getElementType(), size);
      for (int i = 0; i < size; i++) {
        elements[i] = read(from, of, array.getElementType(), dims, depth + 1);
      }
      return new GenericArrayData(elements);
    }
    if (type instanceof RowType row) {
      if (dims[depth] != row.getFieldCount()) {
        throw new IllegalArgumentException(
            "output '%s' came with %d values: expected %d for the fields of column '%s'"
                .formatted(tensor.name(), dims[depth], row.getFieldCount(), column.name()));
      }
      GenericRowData fields = new GenericRowData(row.getFieldCount());
      for (int i = 0; i < fields.getArity(); i++) {
        fields.setField(i, read(from, of, row.getTypeAt(i), dims, depth + 1));
      }
      return fields;
    }
    return element(from, of, type);
  }

  /** Returns an array of the boxed type, to which Flink casts when numbers are read. */
  private static Object[] elements(LogicalType type, int size) {
    Class<?> boxed = type.is(LogicalTypeFamily.NUMERIC) ? type.getDefaultConversion() : null;
    return boxed == null || type.is(LogicalTypeRoot.DECIMAL)
        ? new Object[size]
        : (Object[]) Array.newInstance(boxed, size);
  }

  private Object element(ByteBuffer from, DataType of, LogicalType type) {
    return switch (of) {
      case BOOL -> from.get() != 0;
      case INT8 -> integer(from.get(), type);
      case UINT8 -> integer(from.get() & 0xFF, type);
      case INT16 -> integer(from.getShort(), type);
      case UINT16 -> integer(from.getShort() & 0xFFFF, type);
      case INT32 -> integer(from.getInt(), type);
      case UINT32 -> integer(from.getInt() & 0xFFFF_FFFFL, type);
      case INT64 -> integer(from.getLong(), type);
      case UINT64 -> {
        long value = from.getLong();
        if (value < 0) {
          throw tooLarge(Long.toUnsignedString(value));
        }
        yield integer(value, type);
      }
      case FP16, BF16 -> real(HalfPrecision.toFloat(of, from.getShort()), type);
      case FP32 -> real(from.getFloat(), type);
      case FP64 -> real(from.getDouble(), type);
      case BYTES -> {
        byte[] text = new byte[from.getInt()];
        from.get(text);
        yield switch (type.getTypeRoot()) {
          case CHAR, VARCHAR -> StringData.fromBytes(text);
          default -> text;
        };
      }
    };
  }

  private Object integer(long value, LogicalType type) {
    return switch (type.getTypeRoot()) {
      case TINYINT -> (byte) value;
      case SMALLINT -> (short) value;
      case BIGINT, INTERVAL_DAY_TIME -> value;
      case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
          TimestampData.fromEpochMillis(value);
      default -> {
        if (value != (int) value) {
          throw tooLarge(Long.toString(value));
        }
        yield (int) value;
      }
    };
  }

  private Object real(double value, LogicalType type) {
    return switch (type.getTypeRoot()) {
      case FLOAT -> (float) value;
      case DOUBLE -> value;
      default -> {
        DecimalType decimal = (DecimalType) type;
        DecimalData made =
            Double.isFinite(value)
                ? DecimalData.fromBigDecimal(
                    BigDecimal.valueOf(value).setScale(decimal.getScale(), RoundingMode.HALF_UP),
                    decimal.getPrecision(),
                    decimal.getScale())
                : null;
        if (made == null) {
          throw tooLarge(Double.toString(value));
        }
        yield made;
      }
    };
  }

  private IllegalArgumentException tooLarge(String value) {
    return new IllegalArgumentException(
        "output '%s' came with %s: expected a value that column '%s', %s, can hold"
            .formatted(tensor.name(), value, column.name(), column.type().asSummaryString()));
  }
}
