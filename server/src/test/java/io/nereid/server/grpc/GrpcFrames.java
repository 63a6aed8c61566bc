package io.nereid.server.grpc;

import io.nereid.server.http.FrameClient;
import io.nereid.server.http.RawClient;
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

  /** The head of a call and some data behind it, to be sent in one piece. */
  static byte[] begun(int stream, String path, byte[] data, boolean last) {
    byte[] block = FrameClient.block("POST", path, FIELDS);
    return RawClient.concat(
        FrameClient.bytes(FrameClient.HEADERS, FrameClient.END_HEADERS, stream, block),
        FrameClient.dataFrames(stream, data, last));
  }

  /** Makes a call of the inference service with one message, and gives the whole reply. */
  public static FrameClient.Reply call(FrameClient client, int stream, String method, byte[] bytes)
      throws IOException {
    return client.send(begun(stream, path(method), message(bytes), true)).await(stream);
  }
}
