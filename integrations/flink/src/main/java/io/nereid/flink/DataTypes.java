package io.nereid.flink;

import io.nereid.types.DataType;
import java.util.EnumSet;
import java.util.Set;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;

/** Maps Flink's types of columns to datatypes of tensors. */
final class DataTypes {

  static final String KNOWN =
      "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR, STRING, BINARY, BYTES,"
          + " DATE, TIME, TIMESTAMP or INTERVAL";

  private static final Set<DataType> INTEGERS =
      EnumSet.range(DataType.UINT8, DataType.INT64); // UINT8 to UINT64, INT8 to INT64

  private DataTypes() {}

  static boolean isKnown(LogicalType element) {
    return !inputs(element.getTypeRoot()).isEmpty();
  }

  /** The datatypes that a column of the type can be sent as, without loss. */
  static Set<DataType> inputs(LogicalTypeRoot element) {
    return switch (element) {
      case BOOLEAN -> EnumSet.of(DataType.BOOL);
      case TINYINT, SMALLINT -> and(INTEGERS, DataType.FP32, DataType.FP64);
      case INTEGER -> and(INTEGERS, DataType.FP64);
      case BIGINT -> INTEGERS;
      case FLOAT -> EnumSet.of(DataType.FP16, DataType.BF16, DataType.FP32, DataType.FP64);
      case DOUBLE -> EnumSet.of(DataType.FP64);
      case DECIMAL -> EnumSet.of(DataType.FP32, DataType.FP64);
      case CHAR, VARCHAR -> EnumSet.of(DataType.BYTES);
      case BINARY, VARBINARY -> EnumSet.of(DataType.BYTES, DataType.UINT8, DataType.INT8);
      default -> temporal(element);
    };
  }

  /** The datatypes that a column of the type can be made from. */
  static Set<DataType> outputs(LogicalTypeRoot element) {
    return switch (element) {
      case BOOLEAN -> EnumSet.of(DataType.BOOL);
      case TINYINT -> EnumSet.of(DataType.INT8);
      case SMALLINT -> EnumSet.of(DataType.INT8, DataType.UINT8, DataType.INT16);
      case INTEGER -> {
        Set<DataType> narrower = EnumSet.copyOf(INTEGERS);
        narrower.removeAll(EnumSet.of(DataType.UINT32, DataType.UINT64, DataType.INT64));
        yield narrower;
      }
      case BIGINT -> INTEGERS;
      case FLOAT -> EnumSet.of(DataType.FP16, DataType.BF16, DataType.FP32);
      case DOUBLE -> EnumSet.of(DataType.FP16, DataType.BF16, DataType.FP32, DataType.FP64);
      case DECIMAL -> EnumSet.of(DataType.FP32, DataType.FP64);
      case CHAR, VARCHAR, BINARY, VARBINARY -> EnumSet.of(DataType.BYTES);
      default -> temporal(element);
    };
  }

  /**
   * Returns the datatypes for times: days, months and milliseconds of a day are INT32 or INT64,
   * other milliseconds INT64.
   */
  private static Set<DataType> temporal(LogicalTypeRoot element) {
    return switch (element) {
      case DATE, TIME_WITHOUT_TIME_ZONE, INTERVAL_YEAR_MONTH ->
          EnumSet.of(DataType.INT32, DataType.INT64);
      case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE, INTERVAL_DAY_TIME ->
          EnumSet.of(DataType.INT64);
      default -> EnumSet.noneOf(DataType.class);
    };
  }

  private static Set<DataType> and(Set<DataType> types, DataType... more) {
    Set<DataType> all = EnumSet.copyOf(types);
    all.addAll(Set.of(more));
    return all;
  }
}
