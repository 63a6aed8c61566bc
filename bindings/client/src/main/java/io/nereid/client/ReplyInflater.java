package io.nereid.client;

import io.nereid.client.ClientOptions.Compression;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Inflates a compressed reply as it comes, in pieces of any size, and checks that it is whole. For
 * one thread at a time.
 */
final class ReplyInflater implements AutoCloseable {

  private static final int CHUNK_BYTES = 16 << 10;

  /** The longest head of a gzip file, which may contain a file name and a comment. */
  private static final int MOST_HEAD_BYTES = 4096;

  private static final int LEAST_HEAD_BYTES = 10;
  private static final int TAIL_BYTES = 8;

  // Flags in a gzip file's head, for its optional parts.
  private static final int HEAD_CHECKSUM = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;

  private final boolean gzip;
  private final Inflater inflater;
  private final CRC32 checksum = new CRC32();
  private final byte[] chunk = new byte[CHUNK_BYTES];

  /** The head of a gzip file, as far as it came. */
  private byte[] head = new byte[0];

  private boolean headRead;
  private final ByteBuffer tail = ByteBuffer.allocate(TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  ReplyInflater(Compression how) {
    gzip = how == Compression.GZIP;
    headRead = !gzip;
    inflater = new Inflater(gzip);
  }

  /** Takes a piece, and passes on the inflated bytes, in buffers that are reused. */
  void take(ByteBuffer piece, Consumer<ByteBuffer> to) {
    ByteBuffer compressed = headRead ? piece : afterHead(piece);
    if (compressed == null) {
      return;
    }
    try {
      inflate(compressed, to);
    } catch (DataFormatException e) {
      throw InferenceException.malformed("it cannot be decompressed: " + e.getMessage(), e);
    }
    if (inflater.finished() && compressed.hasRemaining()) {
      if (!gzip || compressed.remaining() > tail.remaining()) {
        throw InferenceException.malformed("something follows the compressed data");
      }
      tail.put(compressed);
    }
  }

  private void inflate(ByteBuffer compressed, Consumer<ByteBuffer> to) throws DataFormatException {
    inflater.setInput(compressed);
    while (!inflater.finished()) {
      int count = inflater.inflate(chunk);
      if (count > 0) {
        checksum.update(chunk, 0, count);
        to.accept(ByteBuffer.wrap(chunk, 0, count));
      } else if (inflater.needsDictionary()) {
        throw new DataFormatException("it needs a dictionary");
      } else if (inflater.needsInput()) {
        return;
      }
    }
  }

  /** Returns the data behind a gzip file's head; null as long as the head is not whole. */
  private ByteBuffer afterHead(ByteBuffer piece) {
    int before = head.length;
    head = Arrays.copyOf(head, before + piece.remaining());
    piece.get(head, before, head.length - before);
    int length = headLength();
    if (length < 0) {
      if (head.length > MOST_HEAD_BYTES) {
        throw InferenceException.malformed(
            "its gzip head has more than " + MOST_HEAD_BYTES + " bytes");
      }
      return null;
    }
    headRead = true;
    ByteBuffer rest = ByteBuffer.wrap(head, length, head.length - length);
    head = null;
    return rest;
  }

  /** The length of the head; -1: it is incomplete. */
  private int headLength() {
    if (head.length < LEAST_HEAD_BYTES) {
      return -1;
    }
    if (head[0] != 0x1f || head[1] != (byte) 0x8b || head[2] != 8) {
      throw InferenceException.malformed("it is said to be gzip, and is not");
    }
    int flags = head[3];
    int at = LEAST_HEAD_BYTES;
    if ((flags & EXTRA) != 0) {
      if (head.length < at + 2) {
        return -1;
      }
      at += 2 + (head[at] & 0xff) + ((head[at + 1] & 0xff) << 8);
    }
    for (int text : new int[] {NAME, COMMENT}) {
      if ((flags & text) != 0) {
        while (at < head.length && head[at] != 0) {
          at++;
        }
        at++;
      }
    }
    if ((flags & HEAD_CHECKSUM) != 0) {
      at += 2;
    }
    return at <= head.length ? at : -1;
  }

  /** Called at the end of the reply; throws if it is incomplete. */
  void finish() {
    if (!inflater.finished() || gzip && tail.hasRemaining()) {
      throw InferenceException.malformed("its compressed data ends too early");
    }
    if (gzip
        && (tail.getInt(0) != (int) checksum.getValue()
            || tail.getInt(Integer.BYTES) != (int) inflater.getBytesWritten())) {
      throw InferenceException.malformed("its compressed data has another checksum or size");
    }
  }

  @Override
  public void close() {
    inflater.end();
  }
}
