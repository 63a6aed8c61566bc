package io.nereid.server.grpc;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** How hard the server works to make replies smaller, for clients that take them compressed. */
public enum GrpcCompression {
  /** Nothing. */
  NONE(Deflater.NO_COMPRESSION),
  /** What is fastest. */
  LOW(Deflater.BEST_SPEED),
  /** What is usual. */
  MEDIUM(6),
  /** What makes them smallest. */
  HIGH(Deflater.BEST_COMPRESSION);

  /** The name of the only encoding beside none. */
  static final String GZIP = "gzip";

  private final int level;

  GrpcCompression(int level) {
    this.level = level;
  }

  /** Compresses a reply. */
  OutputStream compress(OutputStream to) throws IOException {
    return new GZIPOutputStream(to) {
      {
        def.setLevel(level);
      }
    };
  }
}
