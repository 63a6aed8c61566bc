package io.nereid.server.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A target for fuzzing: any bytes as the message of a ModelInfer call. They are read as protobuf
 * reads them or rejected as it rejects them, in pieces that the bytes themselves decide, and no
 * memory of the pool stays with them.
 */
public final class MessageFuzz {

  static {
    WireFormatTest.load();
  }

  private MessageFuzz() {}

  /** Jazzer calls it. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    new WireFormatTest().compare(bytes, new Random(bytes.length));
    WireFormatTest.checkMemory();
  }

  /** Requests that the model takes, to begin with. */
  public static List<byte[]> seeds() {
    Random random = new Random(1);
    List<byte[]> seeds = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      seeds.add(WireFormatTest.usual(random).toByteArray());
    }
    return seeds;
  }
}
