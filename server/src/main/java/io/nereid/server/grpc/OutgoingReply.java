package io.nereid.server.grpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.nereid.InferResponse;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A {@code ModelInferResponse} or {@code ModelStreamInferResponse} as the transport takes it. Raw
 * contents are written from where the model left them. It owns the response whose outputs it
 * writes, until it is closed by the transport, after writing, or the sender.
 */
final class OutgoingReply extends InputStream implements Drainable, KnownLength {

  private static final int RAW_CONTENTS = 6;

  /** Most bytes of a length. */
  private static final int MOST_LENGTH_BYTES = 5;

  private static final String FINAL_RESPONSE = "triton_final_response";

  private final WireWriter head;
  private final InferResponse response; // null: no outputs
  private final LongOutputs made; // null: they are made here
  private List<MemorySegment> contents = List.of();
  private long length;
  private boolean drained;
  private InputStream copy; // for callers that read instead of draining
  private ReplyBuffers.Lent lent; // takes the contents without a copy; null: they are copied

  private OutgoingReply(InferResponse response, LongOutputs made) {
    this.response = response;
    this.made = made;
    head = new WireWriter();
  }

  // ---- Making one ------------------------------------------------------------------------------

  /**
   * The reply to ModelInfer; takes over the response and the outputs that were made, which may be
   * null.
   */
  static OutgoingReply unary(InferResponse response, OutputForms forms, LongOutputs made) {
    OutgoingReply reply = new OutgoingReply(response, made);
    try {
      reply.writeName(response.modelName(), response.modelVersion(), response.id().orElse(""));
      reply.writeParameters(response.parameters());
      reply.writeOutputs(forms);
      reply.finish();
      return reply;
    } catch (Throwable t) {
      reply.close();
      throw t;
    }
  }

  /**
   * A response in a stream; takes over the response and the outputs that were made, which may be
   * null.
   */
  static OutgoingReply streamed(
      InferResponse response, OutputForms forms, LongOutputs made, boolean last) {
    OutgoingReply reply = new OutgoingReply(response, made);
    try {
      reply.writeName(response.modelName(), response.modelVersion(), response.id().orElse(""));
      reply.writeParameters(response.parameters());
      reply.writeFinal(last);
      reply.writeOutputs(forms);
      reply.head.encloseAll(2, reply.rawBytes());
      reply.finish();
      return reply;
    } catch (Throwable t) {
      reply.close();
      throw t;
    }
  }

  /** The end of a request in a stream, without outputs. */
  static OutgoingReply emptyFinal(String model, long version, String id) {
    OutgoingReply reply = new OutgoingReply(null, null);
    reply.writeName(model, version, id);
    reply.writeFinal(true);
    reply.head.encloseAll(2, 0);
    reply.finish();
    return reply;
  }

  /** A failure in a stream; {@code last}: it ends its request. */
  static OutgoingReply error(String message, String id, boolean last) {
    OutgoingReply reply = new OutgoingReply(null, null);
    reply.head.string(1, message);
    int from = reply.head.end();
    reply.head.string(3, id);
    reply.writeFinal(last);
    reply.head.enclose(2, from);
    reply.finish();
    return reply;
  }

  private void writeName(String model, long version, String id) {
    head.string(1, model);
    head.string(2, Long.toString(version));
    head.string(3, id);
  }

  private void writeFinal(boolean last) {
    writeParameter(FINAL_RESPONSE, last);
  }

  private void writeParameters(Map<String, Object> parameters) {
    if (!parameters.isEmpty()) {
      parameters.forEach(this::writeParameter);
    }
  }

  /** Writes an entry of the map of {@code InferParameter}. */
  private void writeParameter(String name, Object value) {
    int entry = head.end();
    head.string(1, name);
    int inner = head.end();
    switch (value) {
      case Boolean truth -> head.bool(1, truth);
      case Long number -> head.number(2, number);
      case Double number -> head.real(4, number);
      default -> head.choice(3, value.toString());
    }
    head.enclose(2, inner);
    head.enclose(4, entry);
  }

  private void writeOutputs(OutputForms forms) {
    contents = new ArrayList<>(2);
    for (String name : response.outputNames()) {
      OutputForms.Form form = forms.of(name);
      Tensor tensor = response.output(name);
      Tensor classes = made == null ? null : made.of(name);
      if (form.classification() != null) {
        tensor = made == null ? form.classification().classify(tensor, null) : classes;
      }
      describe(name, tensor);
      if (form.slice() == null) {
        contents.add(tensor.segment());
      } else {
        if (made == null) {
          form.slice().write(name, tensor);
        }
        contents.add(MemorySegment.NULL); // contents and outputs have the same positions
      }
    }
  }

  private void describe(String name, Tensor tensor) {
    int output = head.end();
    head.string(1, name);
    head.string(2, tensor.dataType().name());
    if (tensor.rank() > 0) {
      int shape = head.end();
      for (int i = 0; i < tensor.rank(); i++) {
        head.varint(tensor.dim(i));
      }
      head.enclose(3, shape);
    }
    head.enclose(5, output);
  }

  private long rawBytes() {
    long bytes = 0;
    for (MemorySegment segment : contents) {
      bytes += 1 + WireWriter.varintBytes(segment.byteSize()) + segment.byteSize();
    }
    return bytes;
  }

  private void finish() {
    length = head.length() + rawBytes();
    if (length > Integer.MAX_VALUE) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "the response has " + length + " bytes, but a message can have " + Integer.MAX_VALUE);
    }
  }

  // ---- Writing it ------------------------------------------------------------------------------

  @Override
  public int available() {
    return drained ? 0 : (int) length;
  }

  @Override
  public int drainTo(OutputStream target) throws IOException {
    if (drained) {
      return 0;
    }
    drained = true;
    if (lent == null) {
      copyTo(target);
    } else {
      addTo(lent, target);
    }
    return (int) length;
  }

  private void copyTo(OutputStream target) throws IOException {
    byte[] chunk = head.bytes();
    int begin = head.begin();
    int end = head.end();
    for (MemorySegment segment : contents) {
      if (chunk.length - end < 2 * Long.BYTES) { // larger than a tag and a length
        target.write(chunk, begin, end - begin);
        begin = end = 0;
      }
      chunk[end++] = RAW_CONTENTS << 3 | WireReader.DELIMITED;
      end = WireWriter.putVarint(chunk, end, segment.byteSize());
      for (long done = 0; done < segment.byteSize(); ) {
        if (end == chunk.length) {
          target.write(chunk, begin, end - begin);
          begin = end = 0;
        }
        int count = (int) Math.min(segment.byteSize() - done, chunk.length - end);
        MemorySegment.copy(segment, JAVA_BYTE, done, chunk, end, count);
        end += count;
        done += count;
      }
    }
    target.write(chunk, begin, end - begin);
  }

  /** Writes the head into the room in front, and adds the contents behind it. */
  private void addTo(ReplyBuffers.Lent buffer, OutputStream target) throws IOException {
    target.write(head.bytes(), head.begin(), head.length());
    byte[] front = new byte[1 + MOST_LENGTH_BYTES];
    front[0] = RAW_CONTENTS << 3 | WireReader.DELIMITED;
    for (MemorySegment segment : contents) {
      buffer.add(front, 0, WireWriter.putVarint(front, 1, segment.byteSize()));
      if (segment.byteSize() > 0) {
        buffer.add(segment);
      }
    }
  }

  // ---- Lending its contents to the transport ---------------------------------------------------

  /** True if all contents can be sent without a copy. */
  boolean isNative() {
    for (MemorySegment segment : contents) {
      if (!segment.isNative()) {
        return false;
      }
    }
    return !contents.isEmpty();
  }

  int contentCount() {
    return contents.size();
  }

  /** Bytes in front of all contents. */
  int headBytes() {
    return head.length();
  }

  /**
   * Makes draining lend the contents to {@code buffer}, which calls {@link #returned} when done.
   */
  void lendTo(ReplyBuffers.Lent buffer) {
    lent = buffer;
  }

  /**
   * Called on the transport's thread when it has sent the contents; another thread may be closing
   * this.
   */
  void returned() {
    response.close();
  }

  // ---- Reading it ------------------------------------------------------------------------------

  /** Reads a byte, for callers that cannot drain. */
  @Override
  public int read() throws IOException {
    return copy().read();
  }

  @Override
  public int read(byte[] into, int offset, int count) throws IOException {
    return copy().read(into, offset, count);
  }

  private InputStream copy() throws IOException {
    if (copy == null) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) length);
      drainTo(bytes);
      copy = new ByteArrayInputStream(bytes.toByteArray());
    }
    return copy;
  }

  /** Gives the outputs' memory back, if it is not lent. Closing twice does nothing. */
  @Override
  public void close() {
    drained = true;
    contents = List.of();
    head.close();
    if (made != null) {
      made.close();
    }
    if (response != null && lent == null) {
      response.close();
    }
  }
}
