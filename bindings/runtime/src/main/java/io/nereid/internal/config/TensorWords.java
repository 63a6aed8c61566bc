package io.nereid.internal.config;

import io.nereid.types.DataType;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Datatypes and shapes of tensors in the words of configurations. */
final class TensorWords {

  private TensorWords() {}

  /** Empty when none is configured. */
  static Optional<DataType> type(io.nereid.proto.DataType configured) {
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
  static DataType readType(ConfigNode node, int number, io.nereid.proto.DataType configured) {
    return type(configured)
        .orElseThrow(
            () -> node.invalid(number, "expected a data_type, such as TYPE_FP32, got none"));
  }

  /** {@code [ -1, 16 ]}. */
  static String text(List<Long> dims) {
    return dims.isEmpty()
        ? "[ ]"
        : dims.stream().map(Object::toString).collect(Collectors.joining(", ", "[ ", " ]"));
  }

  /** Whether requests of {@code given} shape are ones of {@code expected}, which may hold -1. */
  static boolean fit(List<Long> given, List<Long> expected) {
    if (given.size() != expected.size()) {
      return false;
    }
    for (int i = 0; i < given.size(); i++) {
      if (expected.get(i) >= 0 && !expected.get(i).equals(given.get(i))) {
        return false;
      }
    }
    return true;
  }
}
