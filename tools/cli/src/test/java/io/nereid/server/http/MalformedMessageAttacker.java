package io.nereid.server.http;

import io.nereid.server.grpc.GrpcFrames;
import java.io.IOException;
import java.util.List;
import java.util.Random;

/** Sends gRPC messages that are no protobuf. */
final class MalformedMessageAttacker implements SoakAttacker {

  private static final List<String> METHODS =
      List.of(
          GrpcFrames.path("ModelInfer"),
          GrpcFrames.path("ModelMetadata"),
          GrpcFrames.path("RepositoryModelLoad"),
          GrpcFrames.path("LogSettings"),
          "/grpc.health.v1.Health/Check",
          "/grpc.health.v1.Health/Watch",
          "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");

  private final int port;

  MalformedMessageAttacker(int port) {
    this.port = port;
  }

  @Override
  public String name() {
    return "malformed messages";
  }

  @Override
  public void attack(Random random) throws IOException {
    try (FrameClient client = new FrameClient(port).begin()) {
      for (int stream = 1; stream < 40; stream += 2) {
        String path = METHODS.get(random.nextInt(METHODS.size()));
        client.head(stream, false, "POST", path, GrpcFrames.FIELDS);
        byte[] bytes = new byte[3 + random.nextInt(2_000)];
        random.nextBytes(bytes);
        bytes[0] = 7; // a field of a type that there is not
        client.data(stream, GrpcFrames.message(bytes), true);
        String status = client.await(stream).fields.get("grpc-status");
        if (!"3".equals(status) && !"4".equals(status)) { // it was sent in time, or not
          throw new AssertionError("what is no message of " + path + " ended in " + status);
        }
      }
      GrpcFrames.call(client, 41, "ServerReady", new byte[0]).expect(200);
    }
  }
}
