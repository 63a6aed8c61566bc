package io.nereid.client;

import io.nereid.types.DataType;
import io.nereid.types.Shapes;
import java.nio.ByteBuffer;
import java.util.Map;

/** Makes the tensors of a response, and checks the outputs against their descriptions. */
final class ReplyTensors {

  static final String REGION = "shared_memory_region";
  static final String SIZE = "shared_memory_byte_size";
  static final String OFFSET = "shared_memory_offset";

  private static final DataType[] TYPES = DataType.values();

  private ReplyTensors() {}

  /** The type that a server names in its reply. */
  static DataType dataType(String name, String output) {
    for (DataType type : TYPES) {
      if (type.name().equals(name)) {
        return type;
      }
    }
    throw InferenceException.malformed("output '" + output + "' has the datatype '" + name + "'");
  }

  static long elementCount(String output, long[] shape) {
    try {
      // With elements of up to eight bytes the size must fit, too.
      return Math.multiplyExact(Shapes.elementCount(shape), 8L) / 8;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw InferenceException.malformed("output '" + output + "': " + e.getMessage(), e);
    }
  }

  static Tensor withData(
      InferResponse owner, String output, DataType type, ByteBuffer data, long[] shape) {
    long count = elementCount(output, shape);
    if (type.isFixedSize()
        && (data.remaining() / type.byteSize() != count
            || data.remaining() % type.byteSize() != 0)) {
      throw InferenceException.malformed(
          "output '%s' has %s elements of %s by its shape, and %s bytes"
              .formatted(output, count, type, data.remaining()));
    }
    return Tensor.ofResponse(owner, type, data.asReadOnlyBuffer(), null, shape);
  }

  /**
   * True if an output without data of its own lies in shared memory: some servers mark that, for
   * others the request decides.
   *
   * @param request null: the answered request is unknown
   */
  static boolean isShared(InferRequest request, String output, boolean saysSo) {
    if (saysSo || request == null) {
      return saysSo;
    }
    InferRequest.Output requested = request.outputs().get(output);
    return requested != null && requested.slice() != null;
  }

  /**
   * Makes the tensor of an output that the server wrote into the requested slice.
   *
   * @param request null: the answered request is unknown
   */
  static Tensor inSharedMemory(
      InferRequest request,
      InferResponse owner,
      String output,
      DataType type,
      Map<String, Object> parameters,
      long[] shape) {
    SharedMemory.Slice slice = request == null ? told(parameters) : asked(request, output);
    ByteBuffer mapped = slice.mapped();
    long count = elementCount(output, shape);
    long size = slice.byteSize();
    if (type.isFixedSize()) {
      size = count * type.byteSize();
    } else if (mapped != null) {
      size = Tensor.byteStringsSize(mapped, count);
    }
    if (size > slice.byteSize()) {
      throw InferenceException.malformed(
          "output '%s' has %s bytes, in shared memory of %s"
              .formatted(output, size, slice.byteSize()));
    }
    ByteBuffer data =
        mapped == null ? null : Buffers.slice(mapped, 0, (int) size).asReadOnlyBuffer();
    return Tensor.ofResponse(owner, type, data, slice, shape);
  }

  private static SharedMemory.Slice asked(InferRequest request, String output) {
    InferRequest.Output requested = request.outputs().get(output);
    if (requested == null || requested.slice() == null) {
      throw InferenceException.malformed(
          "output '" + output + "' lies in shared memory, which the request did not ask for");
    }
    return requested.slice();
  }

  private static SharedMemory.Slice told(Map<String, Object> parameters) {
    return SharedMemory.Slice.of(
        String.valueOf(parameters.get(REGION)),
        number(parameters, OFFSET),
        number(parameters, SIZE));
  }

  private static long number(Map<String, Object> parameters, String name) {
    return parameters.get(name) instanceof Long value && value >= 0 ? value : 0;
  }
}
