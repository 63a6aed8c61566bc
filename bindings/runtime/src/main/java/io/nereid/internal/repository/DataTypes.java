package io.nereid.internal.repository;

import io.nereid.types.DataType;
import java.util.Optional;

/** Datatypes in the words of configurations. */
final class DataTypes {

  private DataTypes() {}

  /** Empty when none is configured. */
  static Optional<DataType> of(io.nereid.proto.DataType configured) {
    return switch (configured) {
      case TYPE_INVALID, UNRECOGNIZED -> Optional.empty();
      case TYPE_STRING -> Optional.of(DataType.BYTES);
      default -> Optional.of(DataType.valueOf(configured.name().substring("TYPE_".length())));
    };
  }

  static io.nereid.proto.DataType configured(DataType type) {
    return type == DataType.BYTES
        ? io.nereid.proto.DataType.TYPE_STRING
        : io.nereid.proto.DataType.valueOf("TYPE_" + type.name());
  }

  /** The datatype in a field of a message, which must have one. */
  static DataType read(ConfigNode node, int number, io.nereid.proto.DataType configured) {
    return of(configured)
        .orElseThrow(
            () -> node.invalid(number, "expected a data_type, such as TYPE_FP32, got none"));
  }
}
