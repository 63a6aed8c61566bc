package io.nereid.server.grpc;

import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.CompressorRegistry;
import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import io.nereid.server.shared.GzipInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** The effort to make replies smaller, for clients that take them compressed. */
public enum GrpcCompression {
  /** Nothing. */
  NONE(Deflater.NO_COMPRESSION),
  /** The fastest. */
  LOW(Deflater.BEST_SPEED),
  /** The usual one. */
  MEDIUM(6),
  /** The one that makes them smallest. */
  HIGH(Deflater.BEST_COMPRESSION);

  /** The name of the only encoding beside none. */
  static final String GZIP = "gzip";

  private final int level;

  GrpcCompression(int level) {
    this.level = level;
  }

  /** The encodings that replies can have. */
  CompressorRegistry replyEncodings() {
    CompressorRegistry registry = CompressorRegistry.newEmptyInstance();
    registry.register(Codec.Identity.NONE);
    if (this != NONE) {
      registry.register(new Gzip(level));
    }
    return registry;
  }

  /** The encodings that requests can have. */
  static DecompressorRegistry requestEncodings() {
    return DecompressorRegistry.emptyInstance()
        .with(new Gunzip(), true)
        .with(Codec.Identity.NONE, false);
  }

  /** A replacement for gRPC's own, whose failures cannot be reported to the client. */
  private record Gunzip() implements Decompressor {

    @Override
    public String getMessageEncoding() {
      return GZIP;
    }

    @Override
    public InputStream decompress(InputStream compressed) {
      return new GzipInput(compressed);
    }
  }

  /** A replacement for gRPC's own, which has only one level. */
  private record Gzip(int level) implements Compressor {

    @Override
    public String getMessageEncoding() {
      return GZIP;
    }

    @Override
    public OutputStream compress(OutputStream to) throws IOException {
      return new GZIPOutputStream(to) {
        {
          def.setLevel(level);
        }
      };
    }
  }
}
