package io.nereid.server.grpc;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.TensorSpec;
import io.nereid.server.memory.RegionSlice;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.List;

/** Completes a request with what its message says, and checks what the core does not see. */
final class RequestBuilder {

  private final InferMessage message;
  private final Model model;
  private final InferRequest request;
  private final OutputForms forms;

  /**
   * For a request that holds the inputs that were placed while the message was read.
   *
   * @param forms what is said of outputs goes there
   */
  RequestBuilder(InferMessage message, Model model, InferRequest request, OutputForms forms) {
    this.message = message;
    this.model = model;
    this.request = request;
    this.forms = forms;
  }

  void build() {
    assignRawContents();
    for (IncomingInput input : message.inputs()) {
      build(input);
    }
    for (InferMessage.RequestedOutput output : message.outputs()) {
      request.output(output.name());
      forms.add(model.spec(), request, output);
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
      readShared(input, type);
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

  private DataType checkedType(IncomingInput input) {
    DataType type = input.type();
    if (type == null) {
      throw GrpcStatus.invalidArgument(
          "unexpected datatype '"
              + input.datatype()
              + "' of inference input '"
              + input.name()
              + "' for model '"
              + model.name()
              + "'");
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

  /** Takes an input from where the client put it, or has it read there while the model executes. */
  private void readShared(IncomingInput input, DataType type) {
    RegionSlice slice = forms.slice(input.parameters());
    if (type.isFixedSize()) {
      checkSize(input, input.byteSize(type), slice.byteSize());
    }
    if (!slice.lend(request, input.name(), input.shape())) {
      Tensor tensor = ContentPlacement.allocate(request, input, type, slice.byteSize());
      slice.read(tensor.segment());
    }
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
    TypedContents contents = new TypedContents(type, null);
    input.readAside(contents);
    if (type == DataType.BYTES) {
      checkFields(input, type, contents);
      checkPresent(input, contents);
      place(input, type, contents.encoded(), contents.encodedLength());
      return;
    }
    checkTyped(input, type, contents);
    Tensor tensor = ContentPlacement.allocate(request, input, type, input.byteSize(type));
    input.readAside(new TypedContents(type, tensor.segment()));
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

  // ---- What is wrong ---------------------------------------------------------------------------

  private NereidException invalid(String what, IncomingInput input) {
    return invalid(what, input, "");
  }

  private NereidException invalid(String what, IncomingInput input, String more) {
    return GrpcStatus.invalidArgument(
        what + "'" + input.name() + "' for model '" + model.name() + "'" + more);
  }
}
