package io.nereid.server.grpc;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A {@code ModelInferRequest} as it came over the wire: its fields, and those of its inputs. One
 * thread reads it, and drops it when the request is built. Contents go straight into the request's
 * memory if that exists by then; else into arrays that the message owns.
 */
final class InferMessage {

  private String modelName = "";
  private String modelVersion = "";
  private String id = "";
  private MessageParameters parameters; // null: no parameters
  private final List<Input> inputs = new ArrayList<>(2);
  private final List<RequestedOutput> outputs = new ArrayList<>(2);

  /** The raw contents in their order; null where one went straight into its input's memory. */
  private final List<byte[]> rawContents = new ArrayList<>(2);

  private int nextRawInput; // the position in inputs of the next raw content
  private boolean rawUnassigned; // true: a raw content came before its input

  /** An output that is asked for; {@code parameters} is null where there are none. */
  record RequestedOutput(String name, MessageParameters parameters) {}

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads a whole message; contents go where {@code builder} has room for them. */
  void read(WireReader in, RequestBuilder builder) {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> {
          String name = in.readString();
          builder.modelNamed(modelName, name, in);
          modelName = name;
        }
        case 2 << 3 | WireReader.DELIMITED -> {
          String version = in.readString();
          builder.modelNamed(modelVersion, version, in);
          modelVersion = version;
        }
        case 3 << 3 | WireReader.DELIMITED -> id = in.readString();
        case 4 << 3 | WireReader.DELIMITED -> {
          parameters = parameters == null ? new MessageParameters() : parameters;
          parameters.readEntry(in);
        }
        case 5 << 3 | WireReader.DELIMITED -> readInput(in, builder);
        case 6 << 3 | WireReader.DELIMITED -> readOutput(in);
        case 7 << 3 | WireReader.DELIMITED -> readRawContents(in, builder);
        default -> in.skipField(tag);
      }
    }
  }

  private void readInput(WireReader in, RequestBuilder builder) {
    in.countPart();
    long outer = in.enter(in.readLength());
    Input input = new Input();
    inputs.add(input);
    input.read(in, builder);
    in.leave(outer);
  }

  private void readOutput(WireReader in) {
    in.countPart();
    long outer = in.enter(in.readLength());
    String name = "";
    MessageParameters said = null;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> name = in.readString();
        case 2 << 3 | WireReader.DELIMITED -> {
          said = said == null ? new MessageParameters() : said;
          said.readEntry(in);
        }
        default -> in.skipField(tag);
      }
    }
    in.leave(outer);
    outputs.add(new RequestedOutput(name, said));
  }

  private void readRawContents(WireReader in, RequestBuilder builder) {
    in.countPart();
    int length = in.readLength();
    Input input = rawUnassigned ? null : nextRawInput();
    Tensor tensor = null;
    if (input == null) {
      rawUnassigned = true;
    } else if (!input.hasContents()) {
      tensor = builder.raw(input, length);
    }
    if (tensor == null) {
      rawContents.add(in.readBytes(length));
      return;
    }
    in.readTo(tensor.segment(), 0, length);
    input.placed(tensor);
    rawContents.add(null);
  }

  /** The input of the next raw content; null: the input has not come. */
  private Input nextRawInput() {
    while (nextRawInput < inputs.size()) {
      Input input = inputs.get(nextRawInput++);
      if (!input.isInSharedMemory()) {
        return input;
      }
    }
    return null;
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

  /** The request's parameters; null: none. */
  MessageParameters parameters() {
    return parameters;
  }

  List<Input> inputs() {
    return inputs;
  }

  List<RequestedOutput> outputs() {
    return outputs;
  }

  /** The heap of what a request keeps of it: parameters, and places in shared memory. */
  long keptBytes() {
    long places = inputs.size() + outputs.size();
    return MessageParameters.ENTRY_BYTES * places + (parameters == null ? 0 : parameters.bytes());
  }

  /** The raw contents in their order; null where one is in the memory of its input. */
  List<byte[]> rawContents() {
    return rawContents;
  }

  /**
   * One input of the message, with its elements: in the request's memory, or on the heap until
   * their place is known.
   */
  static final class Input {

    private static final DataType[] TYPES = DataType.values();

    /** The depth of nesting of the contents, their own message included. */
    private static final int CONTENTS_DEPTH = 2;

    /** The most dimensions that are kept, even for error messages: models take far fewer. */
    private static final int MOST_DIMS = 64;

    private String name = "";
    private String datatype = "";
    private long[] shape = new long[4];
    private int rank;
    private MessageParameters parameters; // null: there are none

    /** True if there is an {@code InferTensorContents}, even an empty one. */
    private boolean hasContents;

    // The input's memory in the request. At most one of this and the next two is not null.
    private Tensor placed;
    private byte[] data; // elements, encoded as in a tensor
    private List<byte[]> wire; // encoded occurrences of contents, which merge

    private int dataLength;
    private ContentsDecoder typed; // the decoder that filled the tensor

    // ---- Reading --------------------------------------------------------------------------------

    /** Reads to the end of the innermost message. */
    void read(WireReader in, RequestBuilder builder) {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        switch (tag) {
          case 1 << 3 | WireReader.DELIMITED -> name = in.readString();
          case 2 << 3 | WireReader.DELIMITED -> datatype = in.readString();
          case 3 << 3 | WireReader.VARINT -> addDim(in.readVarint());
          case 3 << 3 | WireReader.DELIMITED -> readShape(in);
          case 4 << 3 | WireReader.DELIMITED -> {
            parameters = parameters == null ? new MessageParameters() : parameters;
            parameters.readEntry(in);
          }
          case 5 << 3 | WireReader.DELIMITED -> readContents(in, builder);
          default -> in.skipField(tag);
        }
      }
    }

    private void readShape(WireReader in) {
      long outer = in.enter(in.readLength());
      while (in.remaining() > 0) {
        addDim(in.readVarint());
      }
      in.leave(outer);
    }

    private void addDim(long dim) {
      if (rank == MOST_DIMS) {
        throw WireReader.malformed("a shape has more than " + MOST_DIMS + " dimensions");
      }
      if (rank == shape.length) {
        shape = Arrays.copyOf(shape, 2 * rank);
      }
      shape[rank++] = dim;
    }

    private void readContents(WireReader in, RequestBuilder builder) {
      in.countPart();
      int length = in.readLength();
      hasContents = true;
      // Only the last field is final: later ones could change its meaning, as a second occurrence
      // would.
      boolean last = length == in.remaining() && wire == null;
      Tensor tensor = last ? builder.typed(this, length) : null;
      long outer = in.enter(length);
      if (tensor != null) {
        typed = new ContentsDecoder(tensor.dataType(), tensor.segment());
        typed.read(in);
        placed = tensor;
      } else {
        wire = wire == null ? new ArrayList<>(1) : wire;
        wire.add(in.readBytes(length));
      }
      in.leave(outer);
    }

    // ---- What it is -----------------------------------------------------------------------------

    String name() {
      return name;
    }

    String datatype() {
      return datatype;
    }

    /** The input's type; null if no type has the name. */
    DataType type() {
      for (DataType type : TYPES) {
        if (type.name().equals(datatype)) {
          return type;
        }
      }
      return null;
    }

    long[] shape() {
      return Arrays.copyOf(shape, rank);
    }

    /** Its parameters; null: it has none. */
    MessageParameters parameters() {
      return parameters;
    }

    boolean isInSharedMemory() {
      return parameters != null && parameters.nameSharedMemory();
    }

    boolean hasContents() {
      return hasContents;
    }

    /** The number of elements by the shape. */
    long elementCount() {
      long count = 1;
      for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) {
          throw GrpcStatus.invalidArgument(
              "unexpected shape for input '%s': dimensions must not be negative, got %s"
                  .formatted(name, Arrays.toString(shape())));
        }
        if (shape[i] != 0 && count > Long.MAX_VALUE / shape[i]) {
          throw GrpcStatus.invalidArgument(
              "shape of input '%s' causes total element count to exceed maximum size of %s"
                  .formatted(name, Long.MAX_VALUE));
        }
        count *= shape[i];
      }
      return count;
    }

    /** Bytes by shape and type; not for BYTES. */
    long byteSize(DataType type) {
      long count = elementCount();
      if (count > Long.MAX_VALUE / type.byteSize()) {
        throw GrpcStatus.invalidArgument("byte size overflow for input '" + name + "'");
      }
      return count * type.byteSize();
    }

    // ---- Where its elements are -----------------------------------------------------------------

    /** The request's memory with its elements; null if they are not there yet. */
    Tensor placed() {
      return placed;
    }

    void placed(Tensor tensor) {
      placed = tensor;
    }

    /** The contents that were decoded straight into the tensor; null when none were. */
    ContentsDecoder typed() {
      return typed;
    }

    /** Decodes contents that were set aside, if any. */
    void readAside(ContentsDecoder into) {
      if (wire != null) {
        wire.forEach(bytes -> into.read(new WireReader(bytes, CONTENTS_DEPTH)));
      }
    }

    /** The encoded elements, in the first {@link #dataLength} bytes; null: they are elsewhere. */
    byte[] data() {
      return data;
    }

    int dataLength() {
      return dataLength;
    }

    void data(byte[] bytes, int length) {
      data = bytes;
      dataLength = length;
      placed = null;
    }
  }
}
