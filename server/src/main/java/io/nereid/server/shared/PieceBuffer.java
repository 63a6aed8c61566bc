package io.nereid.server.shared;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the bytes of a reply, in pieces, so that growth never copies. The first piece is kept
 * for the connection's next reply, and has room in front for a head, which is written last, when
 * the length is known. Used by the connection's thread only.
 */
public class PieceBuffer extends OutputStream {

  /** Enough for the heads of this server. */
  public static final int HEAD_ROOM = 1024;

  /** The largest piece of a segment in one buffer, whose size is an int. */
  private static final long SEGMENT_PIECE_BYTES = 1L << 30;

  private static final int FIRST_BYTES = 8 << 10;
  private static final int PIECE_BYTES = 64 << 10;

  private final HeapShare heap; // null: there is no limit
  private final Runnable pause;
  private final byte[] first = new byte[FIRST_BYTES];
  private final List<ByteBuffer> full = new ArrayList<>();

  /** The piece for the next bytes, from {@link #end} on. */
  protected byte[] piece = first;

  private int start = HEAD_ROOM;

  /** The index in the piece at which the next byte goes. */
  protected int end = HEAD_ROOM;

  private long fullBytes;
  private long takenBytes; // from heap

  /** Makes a buffer without a limit. */
  public PieceBuffer() {
    this(null, () -> {});
  }

  /**
   * Makes a buffer whose pieces after the first count in a share of the heap, until {@link #clear}.
   *
   * @param pause lets other threads run; called with each piece
   */
  public PieceBuffer(HeapShare heap, Runnable pause) {
    this.heap = heap;
    this.pause = pause;
  }

  /** Makes an empty buffer with the same share of the heap, and the same pauses. */
  public PieceBuffer another() {
    return new PieceBuffer(heap, pause);
  }

  /** The share in which pieces after the first count; null: there is no limit. */
  public final HeapShare heap() {
    return heap;
  }

  /** Lets other threads run; for those who compute long before they write. */
  public final void pause() {
    pause.run();
  }

  /** Begins a new reply. */
  public void clear() {
    full.clear();
    fullBytes = 0;
    if (takenBytes > 0) {
      heap.giveBack(takenBytes);
      takenBytes = 0;
    }
    piece = first;
    start = HEAD_ROOM;
    end = HEAD_ROOM;
  }

  /** The number of bytes behind the head's room. */
  public long size() {
    return fullBytes + end - start;
  }

  /** The size of the binary data behind a reply's buffer. */
  public static long byteSize(List<MemorySegment> binary) {
    long bytes = 0;
    for (int i = 0; i < binary.size(); i++) {
      bytes += binary.get(i).byteSize();
    }
    return bytes;
  }

  /** True if this many bytes fit into the first piece with all others. */
  private boolean hasRoom(long bytes) {
    return full.isEmpty() && bytes <= piece.length - end;
  }

  /**
   * Puts a head in front and binary data behind, and returns the buffers to send: data that fits in
   * is copied, else it is sent without a copy. The head is {@code length} bytes of {@code head}
   * from {@code from} on.
   */
  public List<ByteBuffer> seal(byte[] head, int from, int length, List<MemorySegment> binary) {
    if (!hasRoom(byteSize(binary))) {
      List<ByteBuffer> all = seal(head, from, length);
      for (MemorySegment segment : binary) {
        addViews(segment, all);
      }
      return all;
    }
    for (int i = 0; i < binary.size(); i++) {
      write(binary.get(i));
    }
    return seal(head, from, length);
  }

  private static void addViews(MemorySegment segment, List<ByteBuffer> pieces) {
    for (long at = 0; at < segment.byteSize(); at += SEGMENT_PIECE_BYTES) {
      long size = Math.min(SEGMENT_PIECE_BYTES, segment.byteSize() - at);
      pieces.add(segment.asSlice(at, size).asByteBuffer());
    }
  }

  private List<ByteBuffer> seal(byte[] head, int from, int length) {
    int begin = HEAD_ROOM - length;
    System.arraycopy(head, from, first, begin, length);
    List<ByteBuffer> all = new ArrayList<>(full.size() + 1);
    if (full.isEmpty()) {
      all.add(ByteBuffer.wrap(first, begin, end - begin));
    } else {
      all.addAll(full);
      all.set(0, ByteBuffer.wrap(first, begin, HEAD_ROOM + full.getFirst().remaining() - begin));
      all.add(ByteBuffer.wrap(piece, start, end - start));
    }
    return all;
  }

  /** Writes the content to a stream. */
  public void writeTo(OutputStream to) throws IOException {
    for (ByteBuffer buffer : full) {
      to.write(buffer.array(), buffer.position(), buffer.remaining());
      pause(); // the stream may compress
    }
    to.write(piece, start, end - start);
  }

  /** Takes heap memory that is held until the next reply begins; throws if there is none. */
  public void takeHeap(long bytes) {
    if (heap != null) {
      heap.take(bytes);
      takenBytes += bytes;
    }
  }

  /** Ensures room in one piece for a few bytes. */
  protected final void reserve(int bytes) {
    if (piece.length - end < bytes) {
      full.add(ByteBuffer.wrap(piece, start, end - start));
      fullBytes += end - start;
      takeHeap(PIECE_BYTES);
      pause();
      piece = new byte[PIECE_BYTES];
      start = 0;
      end = 0;
    }
  }

  @Override
  public void write(int value) {
    reserve(1);
    piece[end++] = (byte) value;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    int from = offset;
    int left = length;
    while (left > 0) {
      reserve(1);
      int count = Math.min(left, piece.length - end);
      System.arraycopy(bytes, from, piece, end, count);
      end += count;
      from += count;
      left -= count;
    }
  }

  /** Writes the bytes of a segment, for which {@link #hasRoom}. */
  private void write(MemorySegment segment) {
    int count = (int) segment.byteSize();
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, 0, piece, end, count);
    end += count;
  }
}
