package io.nereid.recording;

import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Reads the bodies of requests, from a file or from memory. Used by one thread.
 *
 * @param recording tells recordings of a directory apart
 * @param startEpochNs when it began, in nanoseconds since 1970
 * @param contents finds the content with a number
 */
record RequestReader(
    long recording, long startEpochNs, IntFunction<Supplier<ByteBuffer>> contents) {

  /** The request whose body follows its type; throws where the body has another form. */
  RecordedCall read(ByteBuffer body) {
    int flags = body.get();
    StatusCode status = StatusCode.ofNumber(body.get());
    long arrivalNs = body.getLong();
    long durationNs = body.getLong();
    RecordedCall.Stages stages =
        new RecordedCall.Stages(body.getLong(), body.getLong(), body.getLong(), body.getLong());
    long deadlineNs = body.getLong();
    long timeoutNs = body.getLong();
    int priority = body.getInt();
    int batchSize = body.getInt();
    long version = body.getLong();
    RecordedCall.Sequence sequence =
        new RecordedCall.Sequence(
            body.getLong(),
            text(body),
            (flags & Format.SEQUENCE_START) != 0,
            (flags & Format.SEQUENCE_END) != 0);
    String model = text(body);
    String id = text(body);
    String message = text(body);
    Map<String, Object> parameters = parameters(body);
    List<String> wanted = new ArrayList<>();
    for (int i = Short.toUnsignedInt(body.getShort()); i > 0; i--) {
      wanted.add(text(body));
    }
    List<RecordedTensor> inputs = new ArrayList<>();
    List<RecordedTensor> outputs = new ArrayList<>();
    for (int i = Short.toUnsignedInt(body.getShort()); i > 0; i--) {
      (body.get() == 0 ? inputs : outputs).add(tensor(body));
    }
    return new RecordedCall(
        recording,
        model,
        version,
        id,
        Instant.EPOCH.plusNanos(startEpochNs).plusNanos(arrivalNs),
        arrivalNs,
        durationNs,
        stages,
        status,
        message,
        batchSize,
        (flags & Format.INLINE) != 0,
        (flags & Format.CACHE_HIT) != 0,
        deadlineNs,
        timeoutNs,
        priority,
        sequence,
        parameters,
        wanted,
        inputs,
        outputs);
  }

  private static Map<String, Object> parameters(ByteBuffer body) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    for (int i = Short.toUnsignedInt(body.getShort()); i > 0; i--) {
      String key = text(body);
      byte kind = body.get();
      parameters.put(
          key,
          switch (kind) {
            case Format.BOOLEAN -> body.get() != 0;
            case Format.INTEGER -> body.getLong();
            case Format.NUMBER -> body.getDouble();
            case Format.TEXT -> text(body);
            case Format.LARGE_INTEGER -> new BigInteger(text(body));
            default -> throw new IllegalArgumentException("kind " + kind);
          });
    }
    return parameters;
  }

  private RecordedTensor tensor(ByteBuffer body) {
    DataType type = DataType.ofCode(body.get());
    RecordedTensor.Presence presence = RecordedTensor.Presence.values()[body.get()];
    int rank = body.get();
    int number = body.getInt();
    long byteSize = body.getLong();
    if (byteSize < 0) {
      throw new IllegalArgumentException("byte size " + byteSize);
    }
    List<Long> shape = new ArrayList<>();
    for (int i = 0; i < rank; i++) {
      shape.add(body.getLong());
    }
    String name = text(body);
    Supplier<ByteBuffer> content = () -> ByteBuffer.allocate(0);
    if (presence == RecordedTensor.Presence.THERE) {
      content = contents.apply(number);
    }
    return new RecordedTensor(name, type, List.copyOf(shape), byteSize, presence, content);
  }

  private static String text(ByteBuffer body) {
    int length = body.getInt();
    String text = StandardCharsets.UTF_8.decode(body.slice(body.position(), length)).toString();
    body.position(body.position() + length);
    return text;
  }
}
