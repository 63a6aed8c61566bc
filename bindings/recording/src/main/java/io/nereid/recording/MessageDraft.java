package io.nereid.recording;

import io.nereid.model.ModelSpec;
import io.nereid.model.RequestObserver.Outcome;
import io.nereid.model.SentRequest;
import io.nereid.model.SentRequest.Content;
import io.nereid.statistics.Timings;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The record of one request, as the thread that completes it writes it: a body in the format of the
 * file, but for the numbers of contents, and after it the contents. The tensors' memory is the
 * request's, and is read until {@link #writeTo} has returned.
 */
final class MessageDraft {

  /** In front of the body: its length, and where in it the tensors begin. */
  static final int HEAD_BYTES = 8;

  private static final int FIRST_BYTES = 384;

  /** A count has two bytes. */
  private static final int MOST_COUNT = 0xFFFF;

  private final List<MemorySegment> contents = new ArrayList<>(4);
  private final Set<String> redacted;
  private final boolean outputs;
  private final long mostBytes;
  private ByteBuffer body = ByteBuffer.allocate(FIRST_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int tensorsAt;
  private long contentBytes;

  /**
   * Begins with nothing.
   *
   * @param redacted names whose values are left out
   * @param outputs whether outputs are part of it
   * @param mostBytes the most that the body may take, which is on the heap meanwhile
   */
  MessageDraft(Set<String> redacted, boolean outputs, long mostBytes) {
    this.redacted = redacted;
    this.outputs = outputs;
    this.mostBytes = mostBytes;
  }

  /**
   * Writes down all that is known of a request that has ended.
   *
   * @param sentNs by {@link System#nanoTime}, as are the other two
   * @throws BufferOverflowException where the body gets too large, or a count does not fit into it
   */
  void describe(SentRequest request, Outcome outcome, long startNs, long sentNs, long endNs) {
    Timings timings = outcome.timings();
    body.put(Format.REQUEST)
        .put((byte) flags(request, outcome))
        .put((byte) outcome.status().number())
        .putLong(sentNs - startNs)
        .putLong(endNs - sentNs)
        .putLong(timings.queueNs())
        .putLong(timings.computeInputNs())
        .putLong(timings.computeInferNs())
        .putLong(timings.computeOutputNs())
        .putLong(request.deadlineNs() == 0 ? 0 : Math.max(1, request.deadlineNs() - sentNs))
        .putLong(request.timeoutNs())
        .putInt(request.priority())
        .putInt(outcome.batchSize())
        .putLong(request.model().version())
        .putLong(request.sequence().number());
    text(request.sequence().name());
    text(request.model().name());
    text(request.id());
    text(outcome.message());
    parameters(request.parameters());
    ModelSpec model = request.model();
    wantedOutputs(request, model);
    tensors(request, model, outcome.status() == StatusCode.OK && outputs);
  }

  private static int flags(SentRequest request, Outcome outcome) {
    return (outcome.inline() ? Format.INLINE : 0)
        | (outcome.cacheHit() ? Format.CACHE_HIT : 0)
        | (request.startsSequence() ? Format.SEQUENCE_START : 0)
        | (request.endsSequence() ? Format.SEQUENCE_END : 0);
  }

  private void parameters(Map<String, Object> parameters) {
    int countAt = count();
    int count = 0;
    for (Map.Entry<String, Object> parameter : parameters.entrySet()) {
      if (redacted.contains(parameter.getKey())) {
        continue;
      }
      count++;
      text(parameter.getKey());
      Object value = parameter.getValue();
      room(Byte.BYTES + Long.BYTES);
      switch (value) {
        case Boolean it -> body.put(Format.BOOLEAN).put((byte) (it ? 1 : 0));
        case BigInteger it -> kindAndText(Format.LARGE_INTEGER, it.toString());
        case Float _, Double _ -> body.put(Format.NUMBER).putDouble(((Number) value).doubleValue());
        case Number it -> body.put(Format.INTEGER).putLong(it.longValue());
        default -> kindAndText(Format.TEXT, value.toString());
      }
    }
    count(countAt, count);
  }

  private void kindAndText(byte kind, String text) {
    body.put(kind);
    text(text);
  }

  private void wantedOutputs(SentRequest request, ModelSpec model) {
    int countAt = count();
    int count = 0;
    for (int i = 0; i < model.outputs().size(); i++) {
      if (request.wantsOutput(i)) {
        text(model.outputs().get(i).name());
        count++;
      }
    }
    count(countAt, count);
  }

  private void tensors(SentRequest request, ModelSpec model, boolean outputs) {
    tensorsAt = body.position();
    int countAt = count();
    int count = 0;
    for (int i = 0; i < model.inputs().size(); i++) {
      count += tensor(false, model.inputs().get(i).name(), request.input(i));
    }
    for (int i = 0; outputs && i < model.outputs().size(); i++) {
      count += tensor(true, model.outputs().get(i).name(), request.output(i));
    }
    count(countAt, count);
  }

  /** Returns how many tensors it wrote. */
  private int tensor(boolean output, String name, Content tensor) {
    if (tensor == null) {
      return 0;
    }
    MemorySegment memory = tensor.memory();
    byte absence =
        redacted.contains(name)
            ? Format.REDACTED
            : memory == null ? Format.ON_DEVICE : Format.THERE;
    room(TensorHead.FIXED_BYTES + tensor.shape().length * Long.BYTES);
    body.put((byte) (output ? 1 : 0))
        .put((byte) tensor.dataType().code())
        .put(absence)
        .put((byte) tensor.shape().length)
        .putInt(0) // the number of the content
        .putLong(memory == null ? 0 : memory.byteSize());
    for (long dimension : tensor.shape()) {
      body.putLong(dimension);
    }
    text(name);
    if (absence == Format.THERE) {
      contents.add(memory);
      contentBytes += memory.byteSize();
    }
    return 1;
  }

  /** Makes room for a count, and returns where that is. */
  private int count() {
    room(Short.BYTES);
    body.putShort((short) 0);
    return body.position() - Short.BYTES;
  }

  /** Fills in a count for which there is room. */
  private void count(int at, int count) {
    if (count > MOST_COUNT) {
      throw new BufferOverflowException();
    }
    body.putShort(at, (short) count);
  }

  private void text(String text) {
    checkRoom(text.length()); // it is not encoded at all where it cannot fit
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    room(Integer.BYTES + bytes.length);
    body.putInt(bytes.length).put(bytes);
  }

  private void checkRoom(long bytes) {
    if (body.position() + bytes > mostBytes) {
      throw new BufferOverflowException();
    }
  }

  private void room(int bytes) {
    checkRoom(bytes);
    if (body.remaining() < bytes) {
      long size = Math.min(mostBytes, Math.max(2L * body.capacity(), body.position() + bytes));
      byte[] grown = Arrays.copyOf(body.array(), (int) size);
      body = ByteBuffer.wrap(grown).order(ByteOrder.LITTLE_ENDIAN).position(body.position());
    }
  }

  /** The size of the message. */
  long byteSize() {
    return HEAD_BYTES + body.position() + contentBytes;
  }

  /** Writes the message; throws where the memory of a tensor cannot be read any more. */
  void writeTo(MemorySegment room) {
    room.set(TensorHead.INT, 0, body.position());
    room.set(TensorHead.INT, Integer.BYTES, tensorsAt);
    int length = body.position();
    MemorySegment.copy(MemorySegment.ofArray(body.array()), 0, room, HEAD_BYTES, length);
    long at = HEAD_BYTES + length;
    for (MemorySegment content : contents) {
      MemorySegment.copy(content, 0, room, at, content.byteSize());
      at += content.byteSize();
    }
  }
}
