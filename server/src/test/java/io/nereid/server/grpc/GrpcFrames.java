package io.nereid.server.grpc;

import io.nereid.server.http.FrameClient;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The contents of the frames of a gRPC call. */
public final class GrpcFrames {

  /** The header fields of every call, names and values in turns. */
  public static final String[] FIELDS = {"content-type", "application/grpc", "te", "trailers"};

  /** The header fields of a call whose messages are compressed. */
  static final String[] GZIP_FIELDS = {
    "content-type", "application/grpc", "te", "trailers", "grpc-encoding", "gzip"
  };

  private GrpcFrames() {}

  /** The path of a method of the inference service. */
  public static String path(String method) {
    return "/" + InferenceService.NAME + "/" + method;
  }

  /** A message with its length in front. */
  public static byte[] message(byte[] bytes) {
    return ByteBuffer.allocate(5 + bytes.length)
        .position(1)
        .putInt(bytes.length)
        .put(bytes)
        .array();
  }

  /** Makes a call of the inference service with one message, and gives the whole reply. */
  public static FrameClient.Reply call(FrameClient client, int stream, String method, byte[] bytes)
      throws IOException {
    client.head(stream, false, "POST", path(method), FIELDS);
    return client.data(stream, message(bytes), true).await(stream);
  }
}
