package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Replies are read as protobuf reads them, whatever their bytes are. */
class GrpcReplyTest {

  private static final int RUNS = 20_000;

  private final MemoryPool pool = new MemoryPool(1 << 20);

  private static ModelInferResponse.Builder response(Random random) {
    ModelInferResponse.Builder response = ModelInferResponse.newBuilder();
    if (random.nextBoolean()) {
      response.setModelName("m".repeat(random.nextInt(300))).setId("é");
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      byte[] contents = new byte[random.nextInt(random.nextBoolean() ? 10 : 9000)];
      random.nextBytes(contents);
      response.addRawOutputContents(ByteString.copyFrom(contents));
      response
          .addOutputsBuilder()
          .setName("o" + i)
          .setDatatype("UINT8")
          .addShape(contents.length)
          .putParameters("p", InferParameter.newBuilder().setDoubleParam(i).build());
    }
    if (random.nextBoolean()) {
      response.setUnknownFields(
          UnknownFieldSet.newBuilder()
              .addField(
                  100,
                  UnknownFieldSet.Field.newBuilder()
                      .addVarint(random.nextLong())
                      .addFixed32(1)
                      .addFixed64(2)
                      .addLengthDelimited(ByteString.copyFromUtf8("x"))
                      .build())
              .build());
    }
    return response;
  }

  private MemoryPool.Lease lease(byte[] bytes) {
    MemoryPool.Lease lease = pool.take(bytes.length);
    lease.buffer().put(bytes);
    return lease;
  }

  private static void assertSame(ModelInferResponse expected, GrpcReply reply) {
    assertEquals(expected.toBuilder().clearRawOutputContents().build(), reply.message());
    assertEquals(expected.getRawOutputContentsCount(), reply.raw().size());
    for (int i = 0; i < reply.raw().size(); i++) {
      assertArrayEquals(
          expected.getRawOutputContents(i).toByteArray(),
          ByteString.copyFrom(reply.raw().get(i)).toByteArray());
    }
  }

  @Test
  void repliesAreReadAsProtobufReadsThem() throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < RUNS / 10; i++) {
      ModelInferResponse response = response(random).build();
      assertSame(response, GrpcReply.infer(lease(response.toByteArray())));

      ModelStreamInferResponse.Builder streamed = ModelStreamInferResponse.newBuilder();
      if (random.nextBoolean()) {
        streamed.setErrorMessage("wrong");
      }
      streamed.setInferResponse(response);
      // One message may come in two parts, which are to be merged.
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      streamed.build().writeTo(bytes);
      if (random.nextBoolean()) {
        ModelStreamInferResponse.newBuilder()
            .setInferResponse(response(random))
            .build()
            .writeTo(bytes);
      }
      GrpcReply reply = GrpcReply.stream(lease(bytes.toByteArray()));
      ModelStreamInferResponse expected = ModelStreamInferResponse.parseFrom(bytes.toByteArray());
      assertEquals(expected.getErrorMessage(), reply.error());
      assertSame(expected.getInferResponse(), reply);
    }
  }

  private static ModelInferResponse readByProtobuf(byte[] bytes) {
    try {
      return ModelInferResponse.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError("what protobuf refuses was read", e);
    }
  }

  @Test
  void brokenRepliesAreRefusedOrReadAsProtobufReadsThem() {
    Random random = new Random(2);
    int readCount = 0;
    int refusedCount = 0;
    for (int i = 0; i < RUNS; i++) {
      byte[] bytes = response(random).build().toByteArray();
      int kept = random.nextInt(10) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
      bytes = java.util.Arrays.copyOf(bytes, kept);
      for (int j = random.nextInt(4); j > 0 && kept > 0; j--) {
        // Near the start, where descriptions are, as often as in the contents.
        bytes[random.nextInt(random.nextBoolean() ? kept : Math.min(kept, 40))] =
            (byte) random.nextInt();
      }
      GrpcReply reply;
      try {
        reply = GrpcReply.infer(lease(bytes));
      } catch (InvalidProtocolBufferException e) {
        refusedCount++;
        continue;
      }
      assertSame(readByProtobuf(bytes), reply);
      readCount++;
    }
    assertTrue(readCount > RUNS / 10 && refusedCount > RUNS / 10, readCount + " were read");
  }
}
