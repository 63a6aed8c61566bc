package io.nereid.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Makes a request body smaller, once for all attempts. */
final class CompressedBody {

  private static final int CHUNK_BYTES = 64 << 10;

  /** Begins a gzip file: by deflate, without a name and a time, made anywhere. */
  private static final byte[] GZIP_HEAD = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  private static final int GZIP_TAIL_BYTES = 8;

  private final Outgoing outgoing;
  private final List<ByteBuffer> full = new ArrayList<>();
  private ByteBuffer chunk;

  private CompressedBody(Outgoing outgoing) {
    this.outgoing = outgoing;
    chunk = newChunk();
  }

  /** The same bytes, compressed; {@code outgoing} owns the memory. */
  static List<ByteBuffer> of(Compression how, List<ByteBuffer> body, Outgoing outgoing) {
    return how == Compression.NONE ? body : new CompressedBody(outgoing).write(how, body);
  }

  private List<ByteBuffer> write(Compression how, List<ByteBuffer> body) {
    boolean gzip = how == Compression.GZIP;
    CRC32 checksum = new CRC32();
    long byteSize = 0;
    try (Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, gzip)) {
      if (gzip) {
        chunk.put(GZIP_HEAD);
      }
      for (ByteBuffer piece : body) {
        byteSize += piece.remaining();
        if (gzip) {
          checksum.update(piece.duplicate());
        }
        deflater.setInput(piece.duplicate());
        while (!deflater.needsInput()) {
          deflate(deflater);
        }
      }
      deflater.finish();
      while (!deflater.finished()) {
        deflate(deflater);
      }
    }
    if (gzip) {
      if (chunk.remaining() < GZIP_TAIL_BYTES) {
        nextChunk();
      }
      chunk.order(ByteOrder.LITTLE_ENDIAN);
      chunk.putInt((int) checksum.getValue()).putInt((int) byteSize);
    }
    full.add(chunk.flip());
    return full;
  }

  private void deflate(Deflater deflater) {
    if (!chunk.hasRemaining()) {
      nextChunk();
    }
    deflater.deflate(chunk);
  }

  private void nextChunk() {
    full.add(chunk.flip());
    chunk = newChunk();
  }

  private ByteBuffer newChunk() {
    return outgoing.take(CHUNK_BYTES).asByteBuffer();
  }
}
