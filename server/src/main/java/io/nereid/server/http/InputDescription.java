package io.nereid.server.http;

import io.nereid.DataType;
import io.nereid.TensorSpec;

/** What the JSON says about one input, in whatever order it says it. */
final class InputDescription {

  /** No binary_data_size was given. */
  static final long NOT_BINARY = -1;

  String name;
  DataType type;
  long[] shape;
  long binaryByteSize = NOT_BINARY;

  /** Whether there are elements in JSON. */
  boolean hasData;

  /** The elements, when they came before what they are; else null. */
  byte[] setAside;

  /** Whether enough is known to read the elements. */
  boolean isDescribed() {
    return name != null && type != null && shape != null;
  }

  void checkDescribed() {
    if (name == null) {
      throw JsonParsing.missing("name");
    }
    if (shape == null) {
      throw JsonParsing.missing("shape");
    }
    if (type == null) {
      throw JsonParsing.missing("datatype");
    }
  }

  /** Whether the data is in JSON or binary, and only once. */
  void checkSource() {
    if (hasData == (binaryByteSize != NOT_BINARY)) {
      throw HttpFailure.badRequest(
          "Input must set only one of the following fields: 'data', 'binary_data_size' in"
              + " 'parameters', 'shared_memory_region' in 'parameters'. But "
              + (hasData ? "set 'data' 'binary_data_size'" : "no field is set")
              + " for input '"
              + name
              + "'");
    }
  }

  /** Whether this is what the model expects; an input that it does not know is not judged here. */
  void checkType(TensorSpec spec, String model) {
    if (spec != null && spec.dataType() != type) {
      throw HttpFailure.badRequest(
          "inference input '"
              + name
              + "' data-type is '"
              + type
              + "', but model '"
              + model
              + "' expects '"
              + spec.dataType()
              + "'");
    }
  }

  /** Elements by the shape. */
  long elementCount() {
    long count = 1;
    for (long dim : shape) {
      try {
        count = Math.multiplyExact(count, dim);
      } catch (ArithmeticException e) {
        throw HttpFailure.badRequest(
            "shape of input '"
                + name
                + "' causes total element count to exceed maximum size of "
                + Long.MAX_VALUE);
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
}
