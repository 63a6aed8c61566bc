package io.nereid.server.wire;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;

/**
 * The frames that a connection of HTTP/2 sends, as the client's windows and settings allow: makes
 * them, and has those that find no room wait for their turn. Guarded by the connection's lock.
 */
final class Http2Sending {

  private static final long LARGEST_WINDOW_BYTES = Integer.MAX_VALUE;

  /** Bytes that are held of copies before streams have to wait for their client. */
  private static final int MOST_HELD_BYTES = 256 << 10;

  private final Consumer<Http2Stream> whenSent;
  private final FrameBuffer frames = new FrameBuffer();
  private final HpackEncoder heads = new HpackEncoder();
  private final ArrayDeque<Http2Stream> turns = new ArrayDeque<>(); // for the connection's window
  private long windowBytes = Http2Frame.FIRST_WINDOW_BYTES;
  private int firstWindowBytes = Http2Frame.FIRST_WINDOW_BYTES; // of streams
  private int waitingAnswers; // since all that there was was written

  /** {@code whenSent} is told of what had to wait, and has all been sent. */
  Http2Sending(Consumer<Http2Stream> whenSent) {
    this.whenSent = whenSent;
  }

  FrameBuffer frames() {
    return frames;
  }

  Http2Stream newStream(int id, int roomBytes) {
    return new Http2Stream(id, roomBytes, firstWindowBytes);
  }

  // ---- Replies ---------------------------------------------------------------------------------

  /** Sends a head, whose {@code fields} are names and values in turns. */
  void head(Http2Stream stream, int status, List<String> fields, boolean last) {
    int length = heads.write(status, fields);
    int flags = last ? Http2Frame.END_STREAM : 0;
    int type = Http2Frame.HEADERS;
    int at = 0;
    while (length - at > Http2Frame.MOST_BYTES) {
      frames.frame(Http2Frame.MOST_BYTES, type, flags, stream.id);
      frames.put(heads.block(), at, Http2Frame.MOST_BYTES);
      at += Http2Frame.MOST_BYTES;
      flags = 0;
      type = Http2Frame.CONTINUATION;
    }
    frames.frame(length - at, type, flags | Http2Frame.END_HEADERS, stream.id);
    frames.put(heads.block(), at, length - at);
    stream.outputEnded = last;
  }

  /**
   * Sends bytes of a body, of a copy or from where they lie, as far as there is room; the rest
   * waits, and must stay where it is.
   */
  void data(Http2Stream stream, ByteBuffer bytes, boolean isLent, boolean isLast) {
    stream.unsent = bytes;
    stream.unsentIsLent = isLent;
    stream.unsentIsLast = isLast;
    while (sendFrame(stream)) {}
    takeTurn(stream);
  }

  /** Sends a copy of bytes of a body in their turn, when what is held by now was written. */
  void dataInTurn(Http2Stream stream, ByteBuffer bytes) {
    stream.unsent = bytes;
    stream.unsentIsLent = false;
    stream.unsentIsLast = false;
    takeTurn(stream);
  }

  /** Whether a copy of so many bytes of a body would be sent as a whole. */
  boolean hasRoom(Http2Stream stream, int count) {
    return count <= Math.min(windowBytes, stream.windowBytes) && turns.isEmpty() && isRoomy();
  }

  /** Whether more copies may be held now. */
  boolean isRoomy() {
    return frames.unwrittenBytes() < MOST_HELD_BYTES;
  }

  /** Sends one frame of what waits; whether there is room for more, and more. */
  private boolean sendFrame(Http2Stream stream) {
    ByteBuffer bytes = stream.unsent;
    long room = Math.min(Http2Frame.MOST_BYTES, Math.min(windowBytes, stream.windowBytes));
    int count = (int) Math.max(0, Math.min(room, bytes.remaining())); // windows may lack some
    if (count == 0 && bytes.hasRemaining()) {
      return false;
    }
    boolean ends = count == bytes.remaining();
    boolean isLast = ends && stream.unsentIsLast;
    frames.frame(count, Http2Frame.DATA, isLast ? Http2Frame.END_STREAM : 0, stream.id);
    if (stream.unsentIsLent) {
      frames.lend(bytes, count);
    } else {
      frames.put(bytes, count);
    }
    windowBytes -= count;
    stream.windowBytes -= count;
    if (ends) {
      stream.unsent = null;
      stream.outputEnded = isLast;
    }
    return !ends;
  }

  /** What waits for the connection's window gets a turn; others wait for their own first. */
  private void takeTurn(Http2Stream stream) {
    if (stream.unsent != null && stream.windowBytes > 0 && !stream.isInTurn) {
      stream.isInTurn = true;
      turns.add(stream);
    }
  }

  // ---- What the client says of its windows -----------------------------------------------------

  /** The client takes more, of all streams; false: more than there can be. */
  boolean grow(int count) {
    windowBytes += count;
    return windowBytes <= LARGEST_WINDOW_BYTES;
  }

  /** The client takes more of one stream; false: more than there can be. */
  boolean grow(Http2Stream stream, int count) {
    stream.windowBytes += count;
    takeTurn(stream);
    return stream.windowBytes <= LARGEST_WINDOW_BYTES;
  }

  /** The client's windows are another size; false: larger than one can be. */
  boolean firstWindow(int size, Iterable<Http2Stream> open) {
    int more = size - firstWindowBytes;
    firstWindowBytes = size;
    boolean fits = true;
    for (Http2Stream stream : open) {
      stream.windowBytes += more;
      fits &= stream.windowBytes <= LARGEST_WINDOW_BYTES;
      takeTurn(stream);
    }
    return fits;
  }

  void headTableBytes(long most) {
    heads.tableBytes(most);
  }

  /** A stream ended, and needs no turn. */
  void forget(Http2Stream stream) {
    stream.unsent = null;
    if (stream.isInTurn) {
      stream.isInTurn = false;
      turns.remove(stream);
    }
  }

  /**
   * Streams send a frame each until the window is full, or much is to be written, after which this
   * is called again. A client may grow its windows byte by byte: so it is called once for all that
   * came together.
   */
  void sendInTurns() {
    while (windowBytes > 0 && !turns.isEmpty() && isRoomy()) {
      Http2Stream stream = turns.poll();
      stream.isInTurn = false;
      sendFrame(stream);
      if (stream.unsent == null) {
        whenSent.accept(stream);
      }
      takeTurn(stream);
    }
  }

  // ---- Other frames ----------------------------------------------------------------------------

  /** Says what this server allows: numbers and values in turns. */
  void settings(int... allowed) {
    frames.frame(3 * allowed.length, Http2Frame.SETTINGS, 0, 0);
    for (int i = 0; i < allowed.length; i += 2) {
      frames.putShort(allowed[i]);
      frames.putInt(allowed[i + 1]);
    }
  }

  /** Answers settings. */
  void settingsAnswer() {
    waitingAnswers++;
    frames.frame(0, Http2Frame.SETTINGS, Http2Frame.ACK, 0);
  }

  /** Answers a ping with its bytes. */
  void pingAnswer(long bytes) {
    waitingAnswers++;
    ping(Http2Frame.ACK, bytes);
  }

  /** Asks for an answer. */
  void ping() {
    ping(0, 0);
  }

  private void ping(int flags, long bytes) {
    frames.frame(Long.BYTES, Http2Frame.PING, flags, 0);
    frames.putInt((int) (bytes >> 32));
    frames.putInt((int) bytes);
  }

  /** Answers that the client has not taken, as far as that is known. */
  int waitingAnswers() {
    return waitingAnswers;
  }

  /** All that there was is written, or never will be. */
  void allWritten() {
    waitingAnswers = 0;
    sendInTurns();
  }

  /** The client may send so much more, of a stream or of all (0). */
  void windowUpdate(int stream, int count) {
    frames.frame(Integer.BYTES, Http2Frame.WINDOW_UPDATE, 0, stream);
    frames.putInt(count);
  }

  void reset(int stream, Http2Error why) {
    frames.frame(Integer.BYTES, Http2Frame.RESET, 0, stream);
    frames.putInt(why.number);
  }

  void goAway(int last, Http2Error why, String message) {
    byte[] text = ReplyField.ascii(message);
    frames.frame(2 * Integer.BYTES + text.length, Http2Frame.GO_AWAY, 0, 0);
    frames.putInt(last);
    frames.putInt(why.number);
    frames.put(text, 0, text.length);
  }
}
