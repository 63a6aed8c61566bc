package io.nereid.server.trace;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;

/**
 * A tensor as it was at one moment of its request.
 *
 * @param activity which moment, by Triton's name
 * @param contents a copy; empty where there was no room for one, or the tensor is on a GPU
 */
record TracedTensor(
    String activity, String name, DataType dataType, long[] shape, byte[] contents) {

  /** What one takes of the heap, beside its contents. */
  static final int ENTRY_BYTES = 256;

  private static final byte[] NONE = {};

  /** Of a tensor that can be read now; {@code copied}: with its contents. */
  static TracedTensor of(String activity, String name, Tensor tensor, boolean copied) {
    return new TracedTensor(
        activity,
        name,
        tensor.dataType(),
        tensor.shape(),
        copied ? tensor.segment().toArray(JAVA_BYTE) : NONE);
  }
}
