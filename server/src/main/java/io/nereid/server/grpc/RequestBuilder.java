package io.nereid.server.grpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.TensorSpec;
import io.nereid.server.memory.RegionSlice;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Builds the request of a message, on the thread that reads the message. Contents go into the
 * request's memory if model, name, type and shape precede them, as clients write; else they are set
 * aside on the heap. After the message, {@link #build} places those, completes the request, and
 * checks things that the core does not see. The builder owns the request until then.
 */
final class RequestBuilder {

  private final Nereid nereid;
  private final InferMessage message;
  private Model model; // null: unknown so far
  private InferRequest request; // null: not begun

  /** True if all further contents are set aside. */
  private boolean aside;

  /** Makes the builder for a message that is about to be read. */
  RequestBuilder(Nereid nereid, InferMessage message) {
    this.nereid = nereid;
    this.message = message;
  }

  // ---- While the message is read ---------------------------------------------------------------

  /**
   * Takes the model's name or version; a change makes placed contents go back to the heap, where
   * they count in the reader's budget.
   */
  void modelNamed(String before, String now, WireReader in) {
    if (request == null || before.equals(now)) {
      return;
    }
    for (InferMessage.Input input : message.inputs()) {
      if (input.placed() != null) {
        in.takeHeap(input.placed().byteSize());
        byte[] data = input.placed().segment().toArray(JAVA_BYTE);
        input.data(data, data.length);
      }
    }
    close();
    aside = true;
  }

  /** Memory for an input's raw content of this length; null: set the content aside. */
  Tensor raw(InferMessage.Input input, int length) {
    DataType type = placeableType(input);
    if (type == null) {
      return null;
    }
    try {
      if (type.isFixedSize() && input.byteSize(type) != length) {
        return null;
      }
      return allocate(input, type, length);
    } catch (NereidException e) {
      return failed(e);
    }
  }

  /**
   * Memory for typed contents that take {@code length} bytes on the wire; null: set the contents
   * aside, as for BYTES, whose size is known at the end, and for too few bytes for the shape, so
   * that a small message cannot take much memory.
   */
  Tensor typed(InferMessage.Input input, int length) {
    DataType type = placeableType(input);
    if (type == null || !type.isFixedSize()) {
      return null;
    }
    try {
      long byteSize = input.byteSize(type);
      long count = byteSize / type.byteSize();
      return count > length / ContentsDecoder.leastWireBytes(type)
          ? null
          : allocate(input, type, byteSize);
    } catch (NereidException e) {
      return failed(e);
    }
  }

  /** The type of an input if the request can take it now; else null. */
  private DataType placeableType(InferMessage.Input input) {
    if (aside || message.modelName().isEmpty() || input.name().isEmpty()) {
      return null;
    }
    if (request == null) {
      try {
        begin();
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
   * Ignores a failure, which {@link #build} will find again: until the end, the message may name
   * another model. Only a lack of memory is kept.
   */
  private <T> T failed(NereidException failure) {
    if (failure.code() == StatusCode.RESOURCE_EXHAUSTED) {
      throw failure;
    }
    aside = true;
    return null;
  }

  // ---- When it has ended -----------------------------------------------------------------------

  /**
   * The request, complete; it is the caller's.
   *
   * @param forms gets the wanted forms of the outputs
   */
  InferRequest build(OutputForms forms) {
    if (request == null) {
      begin();
    }
    assignRawContents();
    for (InferMessage.Input input : message.inputs()) {
      build(input, forms);
    }
    for (InferMessage.RequestedOutput output : message.outputs()) {
      request.output(output.name());
      forms.add(model.spec(), request, output.name(), output.parameters());
    }
    if (!message.id().isEmpty()) {
      request.id(message.id());
    }
    if (message.parameters() != null) {
      message.parameters().applyTo(request);
    }
    InferRequest built = request;
    request = null;
    return built;
  }

  private void begin() {
    model = ModelVersions.model(nereid, message.modelName(), message.modelVersion());
    request = model.newRequest();
  }

  /** The model of the request; null: not known. */
  Model model() {
    return model;
  }

  /** Gives back a request that was not built. */
  void close() {
    if (request != null) {
      request.close();
      request = null;
    }
  }

  private void assignRawContents() {
    List<byte[]> contents = message.rawContents();
    if (contents.isEmpty()) {
      return;
    }
    int next = 0;
    for (InferMessage.Input input : message.inputs()) {
      if (input.isInSharedMemory()) {
        continue;
      }
      if (input.hasContents()) {
        throw invalid(
            "contents field must not be specified when using raw_input_contents for ", input);
      }
      if (next < contents.size()) {
        byte[] raw = contents.get(next);
        if (raw != null) {
          input.data(raw, raw.length);
        }
      }
      next++;
    }
    if (next != contents.size()) {
      throw GrpcStatus.invalidArgument(
          ("the number of inputs (%s) does not match the expected number of raw input contents "
                  + "(%s) for model '%s'")
              .formatted(next, contents.size(), model.name()));
    }
  }

  private void build(InferMessage.Input input, OutputForms forms) {
    DataType type = checkedType(input);
    if (input.isInSharedMemory()) {
      if (input.hasContents()) {
        throw invalid(
            "unexpected 'content' provided when using shared memory for input tensor ", input);
      }
      readShared(input, type, forms);
      return;
    }
    if (input.typed() != null) {
      checkTyped(input, type, input.typed());
    }
    if (input.placed() != null) {
      return;
    }
    if (input.data() != null) {
      place(input, type, input.data(), input.dataLength());
    } else {
      decode(input, type);
    }
  }

  private DataType checkedType(InferMessage.Input input) {
    DataType type = input.type();
    if (type == null) {
      throw GrpcStatus.invalidArgument(
          "unexpected datatype '%s' of inference input '%s' for model '%s'"
              .formatted(input.datatype(), input.name(), model.name()));
    }
    for (TensorSpec spec : model.spec().inputs()) {
      if (spec.name().equals(input.name()) && spec.dataType() != type) {
        throw GrpcStatus.invalidArgument(
            "inference input '%s' data-type is '%s', but model '%s' expects '%s'"
                .formatted(input.name(), type, model.name(), spec.dataType()));
      }
    }
    return type;
  }

  /** Reads an input from shared memory, now or while the model executes. */
  private void readShared(InferMessage.Input input, DataType type, OutputForms forms) {
    RegionSlice slice = forms.slice(input.parameters());
    if (type.isFixedSize()) {
      checkSize(input, input.byteSize(type), slice.byteSize());
    }
    if (!slice.lend(request, input.name(), input.shape())) {
      forms.read(slice, allocate(input, type, slice.byteSize()));
    }
  }

  /** Moves elements that were set aside into the request. */
  private void place(InferMessage.Input input, DataType type, byte[] data, int length) {
    if (type.isFixedSize()) {
      checkSize(input, input.byteSize(type), length);
    }
    Tensor tensor = allocate(input, type, length);
    MemorySegment.copy(data, 0, tensor.segment(), JAVA_BYTE, 0, length);
  }

  private void decode(InferMessage.Input input, DataType type) {
    ContentsDecoder contents = new ContentsDecoder(type, null);
    input.readAside(contents);
    if (type == DataType.BYTES) {
      checkFields(input, type, contents);
      checkPresent(input, contents);
      place(input, type, contents.encoded(), contents.encodedLength());
      return;
    }
    checkTyped(input, type, contents);
    Tensor tensor = allocate(input, type, input.byteSize(type));
    input.readAside(new ContentsDecoder(type, tensor.segment()));
  }

  private void checkTyped(InferMessage.Input input, DataType type, ContentsDecoder contents) {
    checkFields(input, type, contents);
    checkPresent(input, contents);
    checkSize(input, input.byteSize(type), contents.count() * type.byteSize());
  }

  private void checkFields(InferMessage.Input input, DataType type, ContentsDecoder contents) {
    String what = "unexpected explicit tensor data for input tensor ";
    if (contents.isAmbiguous()) {
      throw invalid(what, input, ", binary data was already supplied.");
    }
    if (contents.foreignType() != null) {
      throw invalid(
          what,
          input,
          " of type '" + contents.foreignType() + "', expected datatype '" + type + "'");
    }
  }

  private void checkPresent(InferMessage.Input input, ContentsDecoder contents) {
    if (contents.count() == 0 && input.elementCount() != 0) {
      throw invalid("unable to find data for input tensor ", input, " in request.");
    }
  }

  private void checkSize(InferMessage.Input input, long expected, long got) {
    if (expected != got) {
      throw invalid(
          "input byte size mismatch for input ", input, ". Expected " + expected + ", got " + got);
    }
  }

  private Tensor allocate(InferMessage.Input input, DataType type, long byteSize) {
    Tensor tensor =
        type.isFixedSize()
            ? request.allocateInput(input.name(), input.shape())
            : request.allocateBytesInput(input.name(), byteSize, input.shape());
    if (tensor.dataType() != type || tensor.byteSize() != byteSize) {
      // The type was checked just before, so the model was replaced meanwhile.
      throw new NereidException(
          StatusCode.UNAVAILABLE, "the model was replaced while the request was read");
    }
    return tensor;
  }

  // ---- What is wrong ---------------------------------------------------------------------------

  private NereidException invalid(String what, InferMessage.Input input) {
    return invalid(what, input, "");
  }

  private NereidException invalid(String what, InferMessage.Input input, String more) {
    return GrpcStatus.invalidArgument(
        what + "'" + input.name() + "' for model '" + model.name() + "'" + more);
  }
}
