package io.nereid.server.http;

import io.nereid.model.TensorSpec;
import io.nereid.server.json.JsonException;
import io.nereid.types.DataType;

/** The description of one input in JSON, whose members come in any order. */
final class InputDescription {

  /** No binary_data_size was given. */
  static final long NOT_BINARY = -1;

  String name;
  DataType type;
  long[] shape;
  long binaryByteSize = NOT_BINARY;

  /** The place of the input in shared memory. */
  final RequestParameters.RegionParameters region = new RequestParameters.RegionParameters();

  /** True if there are elements in JSON. */
  boolean hasData;

  /** The elements, if they came before type and shape; else null. */
  byte[] setAside;

  /** True if enough is known to read the elements. */
  boolean isDescribed() {
    return name != null && type != null && shape != null;
  }

  void checkDescribed() {
    if (name == null) {
      throw JsonException.missing("name");
    }
    if (shape == null) {
      throw JsonException.missing("shape");
    }
    if (type == null) {
      throw JsonException.missing("datatype");
    }
  }

  /** Checks that the data is in exactly one place. */
  void checkSource() {
    boolean binary = binaryByteSize != NOT_BINARY;
    if ((hasData ? 1 : 0) + (binary ? 1 : 0) + (region.isGiven() ? 1 : 0) != 1) {
      String set =
          (hasData ? " 'data'" : "")
              + (binary ? " 'binary_data_size'" : "")
              + (region.isGiven() ? " 'shared_memory_region'" : "");
      throw HttpFailure.badRequest(
          ("Input must set only one of the following fields: 'data', 'binary_data_size' in "
                  + "'parameters', 'shared_memory_region' in 'parameters'. But %s for input '%s'")
              .formatted(set.isEmpty() ? "no field is set" : "set" + set, name));
    }
  }

  /** Checks that the type can be written in JSON. */
  static void checkJsonType(String input, DataType type) {
    if (type == DataType.FP16 || type == DataType.BF16) {
      throw HttpFailure.badRequest(
          "receiving "
              + type
              + " data via JSON is not supported. Please use the binary data format for input "
              + input);
    }
  }

  /** Checks that the input is as the model expects; an unknown input passes here. */
  void checkType(TensorSpec spec, String model) {
    if (spec != null && spec.dataType() != type) {
      throw HttpFailure.badRequest(
          "inference input '%s' data-type is '%s', but model '%s' expects '%s'"
              .formatted(name, type, model, spec.dataType()));
    }
  }

  /** The number of elements by the shape. */
  long elementCount() {
    long count = 1;
    for (long dim : shape) {
      try {
        count = Math.multiplyExact(count, dim);
      } catch (ArithmeticException e) {
        throw HttpFailure.badRequest(
            "shape of input '%s' causes total element count to exceed maximum size of %s"
                .formatted(name, Long.MAX_VALUE));
      }
    }
    return count;
  }

  /** Bytes by shape and type; not for BYTES. */
  long byteSize() {
    try {
      return Math.multiplyExact(elementCount(), type.byteSize());
    } catch (ArithmeticException e) {
      throw HttpFailure.badRequest("byte size overflow for input '" + name + "'");
    }
  }

  /** Checks that binary data has the size that shape and type require. */
  void checkByteSize(long given, String model) {
    if (type.isFixedSize() && given != byteSize()) {
      throw HttpFailure.badRequest(
          "input byte size mismatch for input '%s' for model '%s'. Expected %s, got %s"
              .formatted(name, model, byteSize(), given));
    }
  }
}
