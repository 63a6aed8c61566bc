package io.nereid.flink;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * A column of a model's INPUT or OUTPUT.
 *
 * @param name the name of the column and the tensor
 * @param type of the column
 * @param element the type of a tensor's element: that of the column, without arrays and rows
 * @param rank the number of dimensions of the arrays and rows
 */
record Column(String name, LogicalType type, LogicalType element, int rank)
    implements Serializable {

  static List<Column> all(String clause, ResolvedSchema schema) {
    return schema.getColumns().stream()
        .map(column -> of(clause, column.getName(), column.getDataType().getLogicalType()))
        .toList();
  }

  private static Column of(String clause, String name, LogicalType type) {
    LogicalType element = type;
    int rank = 0;
    while (element instanceof ArrayType || element instanceof RowType) {
      element =
          element instanceof ArrayType array
              ? array.getElementType()
              : onlyType(clause, name, (RowType) element);
      rank++;
    }
    if (!DataTypes.isKnown(element)) {
      throw new ValidationException(
          "%s column '%s' is %s: expected %s, or an ARRAY or a ROW of one of these"
              .formatted(clause, name, type.asSummaryString(), DataTypes.KNOWN));
    }
    return new Column(name, type, element, rank);
  }

  /** Returns the type of a row's fields, which must be one, since a row is a vector. */
  private static LogicalType onlyType(String clause, String name, RowType row) {
    LogicalType first = row.getTypeAt(0).copy(true);
    for (LogicalType field : row.getChildren()) {
      if (!field.copy(true).equals(first)) {
        throw new ValidationException(
            "%s column '%s' is %s: expected fields of one type, since a row is one tensor"
                .formatted(clause, name, row.asSummaryString()));
      }
    }
    return first;
  }
}
