package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.TensorSpec;
import io.nereid.server.http.seam.ClientGoneException;
import io.nereid.server.shared.HeapArrays;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Reads requests that consist of the bytes of the model's only input. */
final class RawInferRequest {

  private static final ValueLayout.OfInt LENGTH =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int PIECE_BYTES = 64 << 10;

  private final Model model;
  private final TensorSpec input;
  private final boolean batches;

  RawInferRequest(Model model) {
    List<TensorSpec> inputs = model.spec().inputs();
    if (inputs.size() != 1) {
      throw HttpFailure.badRequest(
          ("Raw request must only have 1 input (found 1) to be deduced but got %s inputs in "
                  + "'%s' model configuration")
              .formatted(inputs.size(), model.name()));
    }
    this.model = model;
    this.input = inputs.getFirst();
    this.batches = model.spec().maxBatchSize() > 0;
  }

  /** Fills in the request from the body. */
  void read(RequestBody body, InferRequest request) throws IOException {
    if (body.length() == RequestBody.UNKNOWN_LENGTH) {
      MemorySegment all = readAll(body);
      allocate(request, all.byteSize()).copyFrom(all);
    } else if (!body.readFully(allocate(request, body.length()))) {
      throw new ClientGoneException();
    }
  }

  private static MemorySegment readAll(RequestBody body) throws IOException {
    body.takeHeap(PIECE_BYTES);
    byte[] all = new byte[PIECE_BYTES];
    int size = 0;
    for (int count; (count = body.read(all, size, all.length - size)) >= 0; ) {
      size += count;
      if (size == all.length) {
        int room = HeapArrays.grown(size, size + 1);
        body.takeHeap(HeapArrays.cost(room) - HeapArrays.cost(size));
        all = Arrays.copyOf(all, room);
      }
    }
    return MemorySegment.ofArray(all).asSlice(0, size);
  }

  /** Allocates the memory for the body. */
  private MemorySegment allocate(InferRequest request, long byteSize) {
    return input.dataType() == DataType.BYTES
        ? allocateString(request, byteSize)
        : request.allocateInput(input.name(), shape(byteSize)).segment();
  }

  private MemorySegment allocateString(InferRequest request, long byteSize) {
    if (input.dims().stream().anyMatch(dim -> dim != 1)) {
      throw HttpFailure.badRequest(
          "For BYTE datatype raw input '"
              + input.name()
              + "', the model must have input shape [1]");
    }
    long[] shape = new long[input.dims().size() + (batches ? 1 : 0)];
    Arrays.fill(shape, 1);
    MemorySegment segment =
        request.allocateBytesInput(input.name(), Integer.BYTES + byteSize, shape).segment();
    segment.set(LENGTH, 0, (int) byteSize);
    return segment.asSlice(Integer.BYTES);
  }

  /** The shape of a batch of one that has this many bytes. */
  private long[] shape(long byteSize) {
    int first = batches ? 1 : 0;
    long[] shape = new long[input.dims().size() + first];
    if (batches) {
      shape[0] = 1;
    }
    int variable = -1;
    long fixedByteSize = input.dataType().byteSize();
    for (int i = first; i < shape.length; i++) {
      shape[i] = input.dims().get(i - first);
      if (shape[i] >= 0) {
        fixedByteSize = Math.multiplyExact(fixedByteSize, shape[i]);
      } else if (variable < 0) {
        variable = i;
      } else {
        throw HttpFailure.badRequest(
            "The shape of the raw input '"
                + input.name()
                + "' can not be deduced because there are more than one variable-sized dimension");
      }
    }
    if (variable >= 0) {
      shape[variable] = fixedByteSize == 0 ? 0 : byteSize / fixedByteSize;
      fixedByteSize *= shape[variable];
    }
    if (fixedByteSize != byteSize) {
      throw HttpFailure.badRequest(
          "input byte size mismatch for input '%s' for model '%s'. Expected %s, got %s"
              .formatted(
                  input.name(),
                  model.name(),
                  variable >= 0 ? "a multiple of its other dimensions' size" : fixedByteSize,
                  byteSize));
    }
    return shape;
  }
}
