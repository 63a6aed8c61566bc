package io.nereid.server.grpc;

import io.nereid.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** A {@code ModelInferRequest} as it came over the wire. */
final class InferMessage {

  private String modelName = "";
  private String modelVersion = "";
  private String id = "";
  private InferParameters parameters; // null: there are none
  private final List<IncomingInput> inputs = new ArrayList<>(2);
  private final List<RequestedOutput> outputs = new ArrayList<>(2);

  /** In their order; null where one went straight into the memory of its input. */
  private final List<byte[]> rawContents = new ArrayList<>(2);

  private int nextRawInput; // the position in inputs that the next raw content is looked for at
  private boolean rawUnassigned; // whether one came before its input

  /** An output that is asked for; {@code parameters} is null where there are none. */
  record RequestedOutput(String name, InferParameters parameters) {}

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads a whole message; contents go where {@code placement} says. */
  void read(WireReader in, ContentPlacement placement) {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> {
          String name = in.readString();
          placement.modelNamed(modelName, name);
          modelName = name;
        }
        case 2 << 3 | WireReader.DELIMITED -> {
          String version = in.readString();
          placement.modelNamed(modelVersion, version);
          modelVersion = version;
        }
        case 3 << 3 | WireReader.DELIMITED -> id = in.readString();
        case 4 << 3 | WireReader.DELIMITED -> {
          parameters = parameters == null ? new InferParameters() : parameters;
          parameters.readEntry(in);
        }
        case 5 << 3 | WireReader.DELIMITED -> readInput(in, placement);
        case 6 << 3 | WireReader.DELIMITED -> readOutput(in);
        case 7 << 3 | WireReader.DELIMITED -> readRawContents(in, placement);
        default -> in.skipField(tag);
      }
    }
  }

  private void readInput(WireReader in, ContentPlacement placement) {
    in.countPart();
    long outer = in.enter(in.readLength());
    IncomingInput input = new IncomingInput();
    inputs.add(input);
    input.read(in, placement);
    in.leave(outer);
  }

  private void readOutput(WireReader in) {
    in.countPart();
    long outer = in.enter(in.readLength());
    String name = "";
    InferParameters said = null;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> name = in.readString();
        case 2 << 3 | WireReader.DELIMITED -> {
          said = said == null ? new InferParameters() : said;
          said.readEntry(in);
        }
        default -> in.skipField(tag);
      }
    }
    in.leave(outer);
    outputs.add(new RequestedOutput(name, said));
  }

  private void readRawContents(WireReader in, ContentPlacement placement) {
    in.countPart();
    int length = in.readLength();
    IncomingInput input = rawUnassigned ? null : nextRawInput();
    Tensor tensor = null;
    if (input == null) {
      rawUnassigned = true;
    } else if (!input.hasContents()) {
      tensor = placement.raw(input, length);
    }
    if (tensor == null) {
      rawContents.add(in.readBytes(length));
      return;
    }
    in.readTo(tensor.segment(), 0, length);
    input.placed(tensor);
    rawContents.add(null);
  }

  /** The input that the next raw content belongs to; null: it has not come. */
  private IncomingInput nextRawInput() {
    while (nextRawInput < inputs.size()) {
      IncomingInput input = inputs.get(nextRawInput++);
      if (!input.isInSharedMemory()) {
        return input;
      }
    }
    return null;
  }

  /** Nobody asks for its inputs and contents any more, which may be large. */
  void dropContents() {
    inputs.clear();
    rawContents.clear();
  }

  // ---- What it says ----------------------------------------------------------------------------

  String modelName() {
    return modelName;
  }

  String modelVersion() {
    return modelVersion;
  }

  String id() {
    return id;
  }

  /** Null: there are none. */
  InferParameters parameters() {
    return parameters;
  }

  List<IncomingInput> inputs() {
    return inputs;
  }

  List<RequestedOutput> outputs() {
    return outputs;
  }

  /** In their order; null where one is in the memory of its input. */
  List<byte[]> rawContents() {
    return rawContents;
  }
}
