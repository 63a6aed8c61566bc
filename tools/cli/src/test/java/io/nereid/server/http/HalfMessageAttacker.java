package io.nereid.server.http;

import io.nereid.server.grpc.GrpcFrames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;

/** Begins messages of gRPC calls, and never finishes them. */
final class HalfMessageAttacker implements SoakAttacker {

  private static final int MOST_CALLS = 8;
  private static final int MOST_BYTES = 4 << 20;

  private final int port;

  HalfMessageAttacker(int port) {
    this.port = port;
  }

  @Override
  public String name() {
    return "half-sent messages";
  }

  @Override
  public void attack(Random random) throws IOException {
    try (FrameClient client = new FrameClient(port).begin()) {
      int last = 1 + 2 * random.nextInt(MOST_CALLS);
      for (int stream = 1; stream <= last; stream += 2) {
        String method = random.nextBoolean() ? "ModelInfer" : "ModelStreamInfer";
        int length = 100 + random.nextInt(MOST_BYTES);
        int sent = random.nextInt(Math.min(length, 60_000)); // within the first window
        client.head(stream, false, "POST", GrpcFrames.path(method), GrpcFrames.FIELDS);
        client.data(
            stream, ByteBuffer.allocate(5 + sent).position(1).putInt(length).array(), false);
        if (random.nextInt(4) == 0) {
          client.reset(stream);
        }
      }
      if (random.nextInt(4) == 0 && client.reply(last).reset < 0) {
        client.head(last + 2, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
        client.data(last + 2, new byte[] {0, 0, 1, 0, 0, 7}, false);
        String status = client.await(last + 2).fields.get("grpc-status");
        if (!status.equals("4") && !status.equals("8")) {
          throw new AssertionError("half a message ended in status " + status);
        }
      }
    }
  }
}
