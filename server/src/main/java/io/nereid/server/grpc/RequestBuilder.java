package io.nereid.server.grpc;

import io.nereid.DataType;
import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.Tensor;
import io.nereid.TensorSpec;
import java.util.List;

/** Completes a request with what its message says, and checks what the core does not see. */
final class RequestBuilder {

  private final InferMessage message;
  private final Model model;
  private final InferRequest request;

  /** For a request that holds the inputs that were placed while the message was read. */
  RequestBuilder(InferMessage message, Model model, InferRequest request) {
    this.message = message;
    this.model = model;
    this.request = request;
  }

  void build() {
    assignRawContents();
    for (IncomingInput input : message.inputs()) {
      build(input);
    }
    for (InferMessage.RequestedOutput output : message.outputs()) {
      build(output);
    }
    if (!message.id().isEmpty()) {
      request.id(message.id());
    }
    if (message.parameters() != null) {
      message.parameters().applyTo(request);
    }
  }

  // ---- Inputs ----------------------------------------------------------------------------------

  private void assignRawContents() {
    List<byte[]> contents = message.rawContents();
    if (contents.isEmpty()) {
      return;
    }
    int next = 0;
    for (IncomingInput input : message.inputs()) {
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
          "the number of inputs ("
              + next
              + ") does not match the expected number of raw input contents ("
              + contents.size()
              + ") for model '"
              + model.name()
              + "'");
    }
  }

  private void build(IncomingInput input) {
    DataType type = checkedType(input);
    if (input.isInSharedMemory()) {
      if (input.hasContents()) {
        throw invalid(
            "unexpected 'content' provided when using shared memory for input tensor ", input);
      }
      throw notSupported("shared memory is not supported");
    }
    if (input.typed() != null) {
      checkTyped(input, type, input.typed());
    } else if (input.placed() == null && input.data() != null) {
      place(input, type, input.data(), input.dataLength());
    } else if (input.placed() == null) {
      decode(input, type);
    }
  }

  private DataType checkedType(IncomingInput input) {
    DataType type = input.type();
    if (type == null) {
      throw GrpcStatus.invalidArgument(
          "unexpected datatype '" + input.datatype() + "' of inference input '" + input.name()
              + "' for model '" + model.name() + "'");
    }
    for (TensorSpec spec : model.spec().inputs()) {
      if (spec.name().equals(input.name()) && spec.dataType() != type) {
        throw GrpcStatus.invalidArgument(
            "inference input '"
                + input.name()
                + "' data-type is '"
                + type
                + "', but model '"
                + model.name()
                + "' expects '"
                + spec.dataType()
                + "'");
      }
    }
    return type;
  }

  /** Puts elements where they belong that had been set aside. */
  private void place(IncomingInput input, DataType type, byte[] data, int length) {
    if (type.isFixedSize()) {
      checkSize(input, input.byteSize(type), length);
    }
    Tensor tensor = ContentPlacement.allocate(request, input, type, length);
    ContentPlacement.fill(tensor, data, length);
  }

  private void decode(IncomingInput input, DataType type) {
    byte[] wire = input.wire() == null ? new byte[0] : input.wire();
    TypedContents contents = new TypedContents(type, null);
    contents.read(new WireReader(wire, wire.length));
    if (type == DataType.BYTES) {
      checkFields(input, type, contents);
      checkPresent(input, contents);
      place(input, type, contents.encoded(), contents.encodedLength());
      return;
    }
    checkTyped(input, type, contents);
    Tensor tensor = ContentPlacement.allocate(request, input, type, input.byteSize(type));
    new TypedContents(type, tensor.segment()).read(new WireReader(wire, wire.length));
  }

  private void checkTyped(IncomingInput input, DataType type, TypedContents contents) {
    checkFields(input, type, contents);
    checkPresent(input, contents);
    checkSize(input, input.byteSize(type), contents.count() * type.byteSize());
  }

  private void checkFields(IncomingInput input, DataType type, TypedContents contents) {
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

  private void checkPresent(IncomingInput input, TypedContents contents) {
    if (contents.count() == 0 && input.elementCount() != 0) {
      throw invalid("unable to find data for input tensor ", input, " in request.");
    }
  }

  private void checkSize(IncomingInput input, long expected, long got) {
    if (expected != got) {
      throw invalid(
          "input byte size mismatch for input ", input, ". Expected " + expected + ", got " + got);
    }
  }

  // ---- Outputs ---------------------------------------------------------------------------------

  private void build(InferMessage.RequestedOutput output) {
    request.output(output.name());
    InferParameters said = output.parameters();
    if (said == null) {
      return;
    }
    if (said.has("classification")) {
      throw notSupported("classification is not supported");
    }
    if (said.has(IncomingInput.SHARED_MEMORY_REGION)) {
      throw notSupported("shared memory is not supported");
    }
  }

  // ---- What is wrong ---------------------------------------------------------------------------

  private static NereidException notSupported(String message) {
    return new NereidException(StatusCode.UNIMPLEMENTED, message);
  }

  private NereidException invalid(String what, IncomingInput input) {
    return invalid(what, input, "");
  }

  private NereidException invalid(String what, IncomingInput input, String more) {
    return GrpcStatus.invalidArgument(
        what + "'" + input.name() + "' for model '" + model.name() + "'" + more);
  }
}
