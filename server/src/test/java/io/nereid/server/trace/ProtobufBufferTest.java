package io.nereid.server.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written is what protobuf's own library reads, and as it would have written it. */
class ProtobufBufferTest {

  private final ProtobufBuffer buffer = new ProtobufBuffer();

  private void check(UnknownFieldSet expected) throws Exception {
    assertEquals(expected, UnknownFieldSet.parseFrom(buffer.toByteArray()));
    assertEquals(expected.toByteString(), ByteString.copyFrom(buffer.toByteArray()));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 127, 128, 300, Integer.MAX_VALUE, Long.MAX_VALUE, -1, Long.MIN_VALUE})
  void numbers(long value) throws Exception {
    buffer.number(1, value);
    buffer.fixed64(15, value);
    buffer.fixed32(16, (int) value);
    check(
        UnknownFieldSet.newBuilder()
            .addField(1, Field.newBuilder().addVarint(value).build())
            .addField(15, Field.newBuilder().addFixed64(value).build())
            .addField(16, Field.newBuilder().addFixed32((int) value).build())
            .build());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 120, 127, 128, 129, 4_090, 16_383, 16_384, 100_000, 2_200_000})
  void messagesOfAnySize(int size) throws Exception {
    byte[] content = new byte[size];
    new Random(size).nextBytes(content);
    int outer = buffer.begin(3);
    int inner = buffer.begin(2);
    buffer.bytes(1, content);
    buffer.end(inner);
    buffer.number(4, 5);
    buffer.end(outer);
    buffer.string(6, "ä");
    UnknownFieldSet within =
        set(2, set(1, ByteString.copyFrom(content)).toByteString()).toBuilder()
            .addField(4, Field.newBuilder().addVarint(5).build())
            .build();
    check(
        set(3, within.toByteString()).toBuilder()
            .mergeFrom(set(6, ByteString.copyFromUtf8("ä")))
            .build());
  }

  private static UnknownFieldSet set(int field, ByteString value) {
    return UnknownFieldSet.newBuilder()
        .addField(field, Field.newBuilder().addLengthDelimited(value).build())
        .build();
  }

  @Test
  void anEmptyMessageIsThere() throws Exception {
    buffer.end(buffer.begin(1));
    check(set(1, ByteString.EMPTY));
  }

  @Test
  void itIsUsedAgain() throws Exception {
    for (int i = 0; i < 3; i++) {
      buffer.clear();
      String text = "x".repeat(9_000 - 4_000 * i);
      buffer.string(1, text);
      check(set(1, ByteString.copyFromUtf8(text)));
    }
  }
}
