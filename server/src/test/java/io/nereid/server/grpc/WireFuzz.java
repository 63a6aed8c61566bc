package io.nereid.server.grpc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes bytes that are, or nearly are, a message of some type, in all ways that protobuf allows.
 */
final class WireFuzz {

  private final Random random;

  /** What strings are taken from, so that some mean something together. */
  private final List<String> words;

  /** Whether unknown fields must be such that protobuf takes them. */
  private boolean wellFormed;

  WireFuzz(Random random, List<String> words) {
    this.random = random;
    this.words = words;
  }

  // ---- Bytes of messages -----------------------------------------------------------------------

  /** A message with any of its fields, any number of times and in any order. */
  byte[] message(Descriptor type) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = random.nextInt(7); i > 0; i--) {
      if (random.nextInt(12) == 0) {
        unknown(out, 3);
      } else {
        field(out, type.getFields().get(random.nextInt(type.getFields().size())));
      }
    }
    return out.toByteArray();
  }

  private void field(ByteArrayOutputStream out, FieldDescriptor field) {
    int number = field.getNumber();
    if (random.nextInt(60) == 0) {
      value(out, number, random.nextInt(6), 2); // of a wire type that may not be its own
      return;
    }
    switch (field.getJavaType()) {
      case MESSAGE -> delimited(out, number, message(field.getMessageType()));
      case STRING, BYTE_STRING -> delimited(out, number, text());
      case FLOAT -> numbers(out, number, 5);
      case DOUBLE -> numbers(out, number, 1);
      default -> numbers(out, number, 0);
    }
  }

  /** Numbers, packed or not. */
  private void numbers(ByteArrayOutputStream out, int number, int wireType) {
    if (random.nextBoolean()) {
      varint(out, (long) number << 3 | wireType);
      number(out, wireType);
      return;
    }
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    for (int i = random.nextInt(6); i > 0; i--) {
      number(packed, wireType);
    }
    if (random.nextInt(80) == 0) {
      packed.write(random.nextInt(256));
    }
    delimited(out, number, packed.toByteArray());
  }

  private void number(ByteArrayOutputStream out, int wireType) {
    switch (wireType) {
      case 0 -> varint(out, random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(4));
      case 1 -> out.writeBytes(bytes(8));
      default -> out.writeBytes(bytes(4));
    }
  }

  private byte[] text() {
    if (random.nextInt(40) == 0) {
      return bytes(random.nextInt(8)); // most likely not UTF-8
    }
    return words.get(random.nextInt(words.size())).getBytes(StandardCharsets.UTF_8);
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private void delimited(ByteArrayOutputStream out, int number, byte[] content) {
    varint(out, (long) number << 3 | 2);
    varint(out, content.length);
    out.writeBytes(content);
  }

  /** A field that no message here has. */
  private void unknown(ByteArrayOutputStream out, int depth) {
    int wireType = random.nextInt(6);
    if (wireType == 4 && wellFormed) {
      wireType = 5;
    }
    value(out, 20 + random.nextInt(5000), wireType, depth);
  }

  private void value(ByteArrayOutputStream out, int number, int wireType, int depth) {
    varint(out, (long) number << 3 | wireType);
    switch (wireType) {
      case 2 -> {
        byte[] content = bytes(random.nextInt(20));
        varint(out, content.length);
        out.writeBytes(content);
      }
      case 3 -> {
        for (int i = random.nextInt(3); depth > 0 && i > 0; i--) {
          unknown(out, depth - 1);
        }
        varint(out, (long) number << 3 | 4);
      }
      case 4 -> {}
      default -> number(out, wireType);
    }
  }

  /** Sometimes longer than it must be. */
  private void varint(ByteArrayOutputStream out, long value) {
    int least = random.nextInt(20) == 0 ? 1 + random.nextInt(10) : 1;
    long left = value;
    int count = 1;
    while ((left & ~0x7FL) != 0 || count < least) {
      out.write((int) (left & 0x7F) | 0x80);
      left >>>= 7;
      count++;
    }
    out.write((int) left);
  }

  // ---- Damage ----------------------------------------------------------------------------------

  byte[] damaged(byte[] original) {
    byte[] bytes = original.clone();
    for (int i = random.nextInt(3); i >= 0 && bytes.length > 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> bytes = Arrays.copyOf(bytes, at);
        default -> {
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
          System.arraycopy(bytes, at, longer, at + 1, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }

  /** The fields of a message in another order, in which those of one number stay in theirs. */
  byte[] reordered(List<Field> fields) {
    wellFormed = true;
    List<Field> left = new ArrayList<>(fields);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    while (!left.isEmpty()) {
      Field picked = left.get(random.nextInt(left.size()));
      Field first =
          left.stream()
              .filter(field -> field.number() == picked.number())
              .findFirst()
              .orElseThrow();
      left.remove(first);
      out.writeBytes(first.encoded());
      if (random.nextInt(6) == 0) {
        unknown(out, 2);
      }
    }
    return out.toByteArray();
  }

  /** The fields of a message, each occurrence for itself. */
  static List<Field> fields(Message message) throws IOException {
    List<Field> fields = new ArrayList<>();
    CodedInputStream in = CodedInputStream.newInstance(message.toByteArray());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      out.writeUInt32NoTag(tag);
      out.writeByteArrayNoTag(in.readByteArray()); // all are strings, bytes or messages
      out.flush();
      fields.add(new Field(tag >>> 3, bytes.toByteArray()));
    }
    return fields;
  }

  /** One occurrence of a field with its tag. */
  record Field(int number, byte[] encoded) {}
}
