package io.nereid.server.grpc;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One input as a message describes it, and where its elements are: in the request's memory, or set
 * aside on the heap until it is known where they belong.
 */
final class IncomingInput {

  static final String SHARED_MEMORY_REGION = "shared_memory_region";

  /** In how many messages the contents are, their own included. */
  private static final int CONTENTS_DEPTH = 2;

  /** Beyond this a shape is not even kept to be told about: models take far fewer dimensions. */
  private static final int MOST_DIMS = 64;

  private String name = "";
  private String datatype = "";
  private long[] shape = new long[4];
  private int rank;
  private InferParameters parameters; // null: there are none

  /** Whether there is an {@code InferTensorContents}, be it empty. */
  private boolean hasContents;

  // At most one of these three is there.
  private Tensor placed;
  private byte[] data; // elements as they lie in a tensor
  private List<byte[]> wire; // occurrences of contents, which merge, not decoded

  private int dataLength;
  private TypedContents typed; // what was decoded into the tensor

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads to the end of the innermost message. */
  void read(WireReader in, ContentPlacement placement) {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> name = in.readString();
        case 2 << 3 | WireReader.DELIMITED -> datatype = in.readString();
        case 3 << 3 | WireReader.VARINT -> addDim(in.readVarint());
        case 3 << 3 | WireReader.DELIMITED -> readShape(in);
        case 4 << 3 | WireReader.DELIMITED -> {
          parameters = parameters == null ? new InferParameters() : parameters;
          parameters.readEntry(in);
        }
        case 5 << 3 | WireReader.DELIMITED -> readContents(in, placement);
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

  private void readContents(WireReader in, ContentPlacement placement) {
    in.countPart();
    int length = in.readLength();
    hasContents = true;
    // What follows might change what this means, as a second occurrence would.
    boolean last = length == in.remaining() && wire == null;
    Tensor tensor = last ? placement.typed(this, length) : null;
    long outer = in.enter(length);
    if (tensor != null) {
      typed = new TypedContents(tensor.dataType(), tensor.segment());
      typed.read(in);
      placed = tensor;
    } else {
      wire = wire == null ? new ArrayList<>(1) : wire;
      wire.add(in.readBytes(length));
    }
    in.leave(outer);
  }

  // ---- What it is ------------------------------------------------------------------------------

  String name() {
    return name;
  }

  String datatype() {
    return datatype;
  }

  /** Its type; null when there is none of that name. */
  DataType type() {
    for (DataType type : TYPES) {
      if (type.name().equals(datatype)) {
        return type;
      }
    }
    return null;
  }

  private static final DataType[] TYPES = DataType.values();

  long[] shape() {
    return Arrays.copyOf(shape, rank);
  }

  /** What else is said of it; null: nothing. */
  InferParameters parameters() {
    return parameters;
  }

  boolean isInSharedMemory() {
    return parameters != null && parameters.has(SHARED_MEMORY_REGION);
  }

  boolean hasContents() {
    return hasContents;
  }

  /** Elements by the shape. */
  long elementCount() {
    long count = 1;
    for (int i = 0; i < rank; i++) {
      if (shape[i] < 0) {
        throw GrpcStatus.invalidArgument(
            "unexpected shape for input '"
                + name
                + "': dimensions must not be negative, got "
                + Arrays.toString(shape()));
      }
      if (shape[i] != 0 && count > Long.MAX_VALUE / shape[i]) {
        throw GrpcStatus.invalidArgument(
            "shape of input '"
                + name
                + "' causes total element count to exceed maximum size of "
                + Long.MAX_VALUE);
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

  // ---- Where its elements are ------------------------------------------------------------------

  /** The request's memory with its elements; null when they are not there yet. */
  Tensor placed() {
    return placed;
  }

  void placed(Tensor tensor) {
    placed = tensor;
  }

  /** What was decoded straight into the tensor; null when nothing was. */
  TypedContents typed() {
    return typed;
  }

  /** Reads contents that were set aside; nothing when there are none. */
  void readAside(TypedContents into) {
    if (wire != null) {
      wire.forEach(bytes -> into.read(new WireReader(bytes, CONTENTS_DEPTH)));
    }
  }

  /** Elements as they lie in a tensor, the first {@link #dataLength} bytes; null: not here. */
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
