package io.nereid.server.grpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;

/**
 * Finds memory for contents while a message is read: in the request, when all that matters is known
 * by then, as it is in the order in which clients write. Else contents are set aside, and {@link
 * RequestBuilder} places them when the message has ended. It owns the request until {@link #take}.
 */
final class ContentPlacement {

  private final Nereid nereid;
  private final InferMessage message;
  private Model model;
  private InferRequest request; // null: none was begun

  /** Whether all further contents are set aside. */
  private boolean aside;

  /** For a message that is about to be read. */
  ContentPlacement(Nereid nereid, InferMessage message) {
    this.nereid = nereid;
    this.message = message;
  }

  /** The model's name or version is said; when that is news, what was placed is placed wrongly. */
  void modelNamed(String before, String now) {
    if (request == null || before.equals(now)) {
      return;
    }
    for (IncomingInput input : message.inputs()) {
      if (input.placed() != null) {
        byte[] data = input.placed().segment().toArray(JAVA_BYTE);
        input.data(data, data.length);
      }
    }
    close();
    aside = true;
  }

  /** Memory for an input's raw content of this length; null: it is to be set aside. */
  Tensor raw(IncomingInput input, int length) {
    DataType type = placeableType(input);
    if (type == null) {
      return null;
    }
    try {
      if (type.isFixedSize() && input.byteSize(type) != length) {
        return null;
      }
      return allocate(request, input, type, length);
    } catch (NereidException e) {
      return failed(e);
    }
  }

  /**
   * Memory for typed contents that take {@code length} bytes on the wire; null: they are to be set
   * aside. So are those of BYTES, whose size is known at their end, and those with too few bytes
   * for their shape, so that a small message cannot take much memory.
   */
  Tensor typed(IncomingInput input, int length) {
    DataType type = placeableType(input);
    if (type == null || !type.isFixedSize()) {
      return null;
    }
    try {
      long byteSize = input.byteSize(type);
      long count = byteSize / type.byteSize();
      return count > length / TypedContents.leastWireBytes(type)
          ? null
          : allocate(request, input, type, byteSize);
    } catch (NereidException e) {
      return failed(e);
    }
  }

  /** The type of an input that the request can take now; null: it cannot. */
  private DataType placeableType(IncomingInput input) {
    if (aside || message.modelName().isEmpty() || input.name().isEmpty()) {
      return null;
    }
    if (request == null) {
      try {
        model = ModelVersions.model(nereid, message.modelName(), message.modelVersion());
        request = model.newRequest();
      } catch (NereidException e) {
        return failed(e);
      }
    }
    for (TensorSpec spec : model.spec().inputs()) {
      if (spec.name().equals(input.name())) {
        DataType type = spec.dataType();
        return type.name().equals(input.datatype()) ? type : null;
      }
    }
    return null;
  }

  /**
   * Whatever is wrong is found again, and said, when the message has ended: until then the client
   * may say that it means another model. Only memory that is not there is not asked for twice.
   */
  private <T> T failed(NereidException failure) {
    if (failure.code() == StatusCode.RESOURCE_EXHAUSTED) {
      throw failure;
    }
    aside = true;
    return null;
  }

  static Tensor allocate(InferRequest request, IncomingInput input, DataType type, long byteSize) {
    Tensor tensor =
        type.isFixedSize()
            ? request.allocateInput(input.name(), input.shape())
            : request.allocateBytesInput(input.name(), byteSize, input.shape());
    if (tensor.dataType() != type || tensor.byteSize() != byteSize) {
      // It was checked just before, so the model was replaced by one with another type.
      throw new NereidException(
          StatusCode.UNAVAILABLE, "the model was replaced while the request was read");
    }
    return tensor;
  }

  static void fill(Tensor tensor, byte[] data, int length) {
    MemorySegment.copy(data, 0, tensor.segment(), JAVA_BYTE, 0, length);
  }

  /** The request that contents went into; null: none did. It is the caller's from now on. */
  InferRequest take() {
    InferRequest taken = request;
    request = null;
    return taken;
  }

  /** The model of that request; null: not known. */
  Model model() {
    return model;
  }

  /** Gives back what was not taken. */
  void close() {
    if (request != null) {
      request.close();
      request = null;
    }
  }
}
