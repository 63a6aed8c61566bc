package io.nereid.client;

import com.google.protobuf.CodedOutputStream;
import io.nereid.proto.ModelInferRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * A request with tensors.
 *
 * @param message all of it but the raw contents
 * @param raw the raw contents, which go behind the message: protobuf would copy each to the heap
 */
record GrpcRequest(ModelInferRequest message, List<MemorySegment> raw) {

  private static final int RAW_CONTENTS = ModelInferRequest.RAW_INPUT_CONTENTS_FIELD_NUMBER;

  /** Pieces in which it is written. */
  private static final int WRITE_BYTES = 16 << 10;

  /** Size as it is sent; beyond 2^31 - 1 it cannot be. */
  long byteSize() {
    long size = message.getSerializedSize();
    for (MemorySegment contents : raw) {
      size +=
          CodedOutputStream.computeTagSize(RAW_CONTENTS)
              + CodedOutputStream.computeUInt64SizeNoTag(contents.byteSize())
              + contents.byteSize();
    }
    return size;
  }

  void writeTo(OutputStream target) throws IOException {
    byte[] chunk = new byte[(int) Math.min(byteSize(), WRITE_BYTES)];
    CodedOutputStream output = CodedOutputStream.newInstance(target, Math.max(64, chunk.length));
    message.writeTo(output);
    for (MemorySegment contents : raw) {
      output.writeTag(RAW_CONTENTS, 2); // length-delimited
      output.writeUInt64NoTag(contents.byteSize());
      if (contents.byteSize() > WRITE_BYTES) {
        output.flush();
      }
      for (long at = 0; at < contents.byteSize(); at += chunk.length) {
        int count = (int) Math.min(chunk.length, contents.byteSize() - at);
        MemorySegment.copy(contents, ValueLayout.JAVA_BYTE, at, chunk, 0, count);
        output.write(chunk, 0, count); // a whole chunk goes by the encoder's own buffer
      }
    }
    output.flush();
  }
}
