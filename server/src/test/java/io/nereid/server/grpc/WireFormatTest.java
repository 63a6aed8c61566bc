package io.nereid.server.grpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.ModelSpec;
import io.nereid.proto.InferParameter;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferRequest;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** That this server reads what protobuf-java reads, whatever the bytes are and how they come. */
class WireFormatTest {

  private static final long SEED = 20_241_105;

  private static final List<String> WORDS =
      List.of("m", "m", "m", "", "1", "a", "b", "c", "INT32", "FP32", "BOOL", "Ünï", "timeout");

  /** What protobuf-java may accept, and is refused here. */
  private static final Pattern OWN_LIMITS =
      Pattern.compile(
          "more than ([0-9]+ (bytes|dimensions)|[0-9]+ inputs, outputs and parameters)$");

  private static Nereid nereid;

  /** A model that some of the words fit, so that some contents go straight into its inputs. */
  @BeforeAll
  static void load() {
    nereid = Nereid.create(NereidOptions.DEFAULT);
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("a", DataType.INT32, -1)
            .input("b", DataType.FP32, -1)
            .input("c", DataType.BOOL, -1)
            .output("x", DataType.INT32, -1)
            .output("y", DataType.FP32, -1)
            .output("z", DataType.BOOL, -1)
            .build());
  }

  @AfterAll
  static void close() {
    try {
      checkMemory();
    } finally {
      nereid.close();
    }
  }

  static void checkMemory() {
    assertEquals(0, nereid.poolStatistics().liveBuffers());
  }

  private int accepted;
  private int placed;

  void compare(byte[] bytes, Random random) {
    ModelInferRequest expected = null;
    try {
      expected = ModelInferRequest.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      // So it must be rejected here, too.
    }
    InferMessage message = new InferMessage();
    RequestBuilder builder = new RequestBuilder(nereid, message);
    try {
      message.read(new WireReader(Fragments.of(bytes, random), null), builder);
      // What was set aside is read later, as it must be to be rejected.
      message.inputs().forEach(input -> input.readAside(new ContentsDecoder(DataType.FP16, null)));
      assertTrue(expected != null, () -> "was accepted: " + HexFormat.of().formatHex(bytes));
      compare(expected, message, () -> HexFormat.of().formatHex(bytes));
      accepted++;
    } catch (NereidException e) {
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code(), e.getMessage());
      // Of numbers whose tenth byte says that another one follows, protobuf-java takes those with
      // an odd one and rejects the rest. Here all are too long.
      assertTrue(
          expected == null || OWN_LIMITS.matcher(e.getMessage()).find(),
          () -> e.getMessage() + ": " + HexFormat.of().formatHex(bytes));
    } finally {
      builder.close();
    }
  }

  private void compare(ModelInferRequest expected, InferMessage message, Supplier<String> bytes) {
    assertEquals(expected.getModelName(), message.modelName(), bytes);
    assertEquals(expected.getModelVersion(), message.modelVersion(), bytes);
    assertEquals(expected.getId(), message.id(), bytes);
    compare(expected.getParametersMap(), message.parameters(), bytes);
    assertEquals(expected.getOutputsCount(), message.outputs().size(), bytes);
    for (int i = 0; i < expected.getOutputsCount(); i++) {
      assertEquals(expected.getOutputs(i).getName(), message.outputs().get(i).name(), bytes);
      compare(
          expected.getOutputs(i).getParametersMap(), message.outputs().get(i).parameters(), bytes);
    }
    assertEquals(expected.getInputsCount(), message.inputs().size(), bytes);
    for (int i = 0; i < expected.getInputsCount(); i++) {
      compare(expected.getInputs(i), message.inputs().get(i), bytes);
    }
    compareRaw(expected, message, bytes);
  }

  private static void compare(
      Map<String, InferParameter> expected, MessageParameters read, Supplier<String> bytes) {
    StringBuilder text = new StringBuilder();
    expected.forEach((key, value) -> {
      String shown =
          switch (value.getParameterChoiceCase()) {
            case BOOL_PARAM -> Boolean.toString(value.getBoolParam());
            case INT64_PARAM -> Long.toString(value.getInt64Param());
            case STRING_PARAM -> "'" + value.getStringParam() + "'";
            case DOUBLE_PARAM -> Double.toString(value.getDoubleParam());
            case UINT64_PARAM -> Long.toUnsignedString(value.getUint64Param()) + "u";
            case PARAMETERCHOICE_NOT_SET -> "UNSET";
          };
      text.append(key).append('=').append(shown).append(' ');
    });
    assertEquals(text.toString(), read == null ? "" : read.toString(), bytes);
  }

  private void compare(
      ModelInferRequest.InferInputTensor expected,
      InferMessage.Input read,
      Supplier<String> bytes) {
    assertEquals(expected.getName(), read.name(), bytes);
    assertEquals(expected.getDatatype(), read.datatype(), bytes);
    assertEquals(expected.getShapeList(), Arrays.stream(read.shape()).boxed().toList(), bytes);
    compare(expected.getParametersMap(), read.parameters(), bytes);
    assertEquals(expected.hasContents(), read.hasContents(), bytes);
    if (!expected.hasContents()) {
      return;
    }
    DataType type = read.type();
    if (read.typed() != null) {
      placed++;
      assertEquals(count(expected.getContents(), type), read.typed().count(), bytes);
      if (read.placed() != null
          && read.typed().count() * type.byteSize() == read.placed().byteSize()) {
        assertArrayEquals(
            encoded(expected.getContents(), type),
            read.placed().segment().toArray(JAVA_BYTE),
            bytes);
      }
    } else {
      // Set aside: of no matter which type it is, what does not belong to that is skipped.
      for (DataType any : List.of(DataType.INT32, DataType.FP32, DataType.BOOL)) {
        ContentsDecoder contents = new ContentsDecoder(any, null);
        read.readAside(contents);
        assertEquals(count(expected.getContents(), any), contents.count(), bytes);
      }
      ContentsDecoder strings = new ContentsDecoder(DataType.BYTES, null);
      read.readAside(strings);
      assertEquals(expected.getContents().getBytesContentsCount(), strings.count(), bytes);
      assertArrayEquals(
          strings(expected.getContents()),
          Arrays.copyOf(strings.encoded(), strings.encodedLength()),
          bytes);
    }
  }

  private static byte[] strings(InferTensorContents contents) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (ByteString string : contents.getBytesContentsList()) {
      for (int i = 0; i < Integer.SIZE; i += 8) {
        bytes.write(string.size() >>> i);
      }
      bytes.writeBytes(string.toByteArray());
    }
    return bytes.toByteArray();
  }

  private static int count(InferTensorContents contents, DataType type) {
    return switch (type) {
      case INT32 -> contents.getIntContentsCount();
      case FP32 -> contents.getFp32ContentsCount();
      case BOOL -> contents.getBoolContentsCount();
      default -> throw new AssertionError(type);
    };
  }

  private static byte[] encoded(InferTensorContents contents, DataType type) {
    ByteBuffer bytes =
        ByteBuffer.allocate(count(contents, type) * type.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
    switch (type) {
      case INT32 -> contents.getIntContentsList().forEach(bytes::putInt);
      case FP32 ->
          // By its bits: a NaN is to stay the one it is.
          contents.getFp32ContentsList().forEach(f -> bytes.putInt(Float.floatToRawIntBits(f)));
      case BOOL -> contents.getBoolContentsList().forEach(b -> bytes.put((byte) (b ? 1 : 0)));
      default -> throw new AssertionError(type);
    }
    return bytes.array();
  }

  private void compareRaw(
      ModelInferRequest expected, InferMessage message, Supplier<String> bytes) {
    assertEquals(expected.getRawInputContentsCount(), message.rawContents().size(), bytes);
    List<InferMessage.Input> inputs =
        message.inputs().stream().filter(input -> !input.isInSharedMemory()).toList();
    for (int i = 0; i < expected.getRawInputContentsCount(); i++) {
      byte[] raw = message.rawContents().get(i);
      if (raw == null) {
        InferMessage.Input input = inputs.get(i);
        placed++;
        raw =
            input.placed() != null
                ? input.placed().segment().toArray(JAVA_BYTE)
                : Arrays.copyOf(input.data(), input.dataLength());
      }
      assertEquals(expected.getRawInputContents(i), ByteString.copyFrom(raw), bytes);
    }
  }

  private void compareMany(int count, UnaryOperator<byte[]> change, Random random) {
    WireFuzz fuzz = new WireFuzz(random, WORDS);
    for (int i = 0; i < count; i++) {
      compare(change.apply(fuzz.message(ModelInferRequest.getDescriptor())), random);
    }
  }

  @Test
  void anyMessageIsReadAsProtobufReadsIt() {
    compareMany(20_000, bytes -> bytes, new Random(SEED));
    assertTrue(accepted > 10_000, "only " + accepted + " were messages");
  }

  @Test
  void damagedMessagesAreReadOrRejectedAsProtobufDoes() {
    Random random = new Random(SEED + 1);
    WireFuzz fuzz = new WireFuzz(random, WORDS);
    compareMany(30_000, fuzz::damaged, random);
    assertTrue(accepted > 2_500, "only " + accepted + " were messages");
  }

  /** Requests that the model takes, damaged a little or not at all. */
  @Test
  void tensorsReadStraightIntoInputsAreTheSame() {
    Random random = new Random(SEED + 2);
    WireFuzz fuzz = new WireFuzz(random, WORDS);
    for (int i = 0; i < 10_000; i++) {
      byte[] usual = usual(random).toByteArray();
      compare(i % 2 == 0 ? usual : fuzz.damaged(usual), random);
    }
    assertTrue(placed > 5_000, "only " + placed + " contents went straight there");
  }

  static ModelInferRequest usual(Random random) {
    ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("m");
    boolean raw = random.nextBoolean();
    for (String name : List.of("a", "b", "c")) {
      int count = random.nextInt(40);
      ModelInferRequest.InferInputTensor.Builder input =
          request.addInputsBuilder().setName(name).addShape(count);
      InferTensorContents.Builder contents = InferTensorContents.newBuilder();
      int bytes = count;
      switch (name) {
        case "a" -> {
          input.setDatatype("INT32");
          random.ints(count).forEach(contents::addIntContents);
          bytes *= Integer.BYTES;
        }
        case "b" -> {
          input.setDatatype("FP32");
          random.ints(count).forEach(i -> contents.addFp32Contents(i));
          bytes *= Float.BYTES;
        }
        default -> {
          input.setDatatype("BOOL");
          random.ints(count).forEach(i -> contents.addBoolContents(i % 2 == 0));
        }
      }
      if (raw) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        request.addRawInputContents(ByteString.copyFrom(data));
      } else {
        input.setContents(contents);
      }
    }
    return request.build();
  }

  @Test
  void groupsAreSkippedToTheDepthThatProtobufAllows() {
    for (int depth : new int[] {1, 50, 99, 100, 101, 102, 5000}) {
      byte[] bytes = new byte[2 * depth];
      Arrays.fill(bytes, 0, depth, (byte) (15 << 3 | WireReader.START_GROUP));
      Arrays.fill(bytes, depth, 2 * depth, (byte) (15 << 3 | WireReader.END_GROUP));
      compare(bytes, new Random(depth));
    }
  }

  @Test
  void bytesSetAsideHaveABudget() {
    byte[] bytes =
        ModelInferRequest.newBuilder()
            .addRawInputContents(ByteString.copyFrom(new byte[300_000]))
            .addRawInputContents(ByteString.copyFrom(new byte[300_000]))
            .build()
            .toByteArray();
    MessageBudget budget = MessageBudget.ofUnfinished(500_000);
    InferMessage message = new InferMessage();
    WireReader reader = new WireReader(Fragments.of(bytes, new Random(SEED)), budget);
    NereidException refused =
        assertThrows(
            NereidException.class, () -> message.read(reader, new RequestBuilder(nereid, message)));
    assertEquals(StatusCode.RESOURCE_EXHAUSTED, refused.code());
    assertEquals(300_000, budget.taken());
    reader.giveBackHeap();
    assertEquals(0, budget.taken());
  }
}
