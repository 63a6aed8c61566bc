package io.nereid.server.wire;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The streams of a connection that are open, and how much the client may send of each and of all.
 * Guarded by the connection's lock.
 */
final class Http2Streams {

  /** Bytes of a body that a client may usually send ahead of whoever reads it. */
  static final int USUAL_WINDOW_BYTES = 1 << 20;

  /** The same limit for all bodies of a connection. */
  static final int CONNECTION_WINDOW_BYTES = 4 << 20;

  private final Http2Sending sending;
  private final int windowBytes; // of each
  private final Map<Integer, Http2Stream> open = new HashMap<>();
  private int lastBegun; // the highest number of a stream
  private int lastServed = Integer.MAX_VALUE; // those that are higher are not begun any more
  private int roomBytes = CONNECTION_WINDOW_BYTES; // that the client may send now, of all streams
  private int usedBytes; // that the client has not been told of

  Http2Streams(Http2Sending sending, int windowBytes) {
    this.sending = sending;
    this.windowBytes = windowBytes;
  }

  int count() {
    return open.size();
  }

  Collection<Http2Stream> open() {
    return open.values();
  }

  /** Null: there is none that is open. */
  Http2Stream get(int id) {
    return open.get(id);
  }

  /** The stream of a frame; null: it has ended, and the frame was under way. */
  Http2Stream known(int id) {
    if (id % 2 == 0 || (id > lastBegun && id <= lastServed)) {
      throw Http2Failure.ofConnection(
          Http2Error.PROTOCOL_ERROR, "expected a stream that was begun, got number " + id);
    }
    return open.get(id);
  }

  // ---- Their beginnings and ends ---------------------------------------------------------------

  /** Whether a head begins a stream; else it was under way when that ended. */
  boolean begins(int id) {
    if (id % 2 == 0) {
      throw Http2Failure.ofConnection(
          Http2Error.PROTOCOL_ERROR, "expected an odd number for a stream, got " + id);
    }
    return id > lastBegun && id <= lastServed;
  }

  Http2Stream begin(int id, boolean inputEnded) {
    lastBegun = id;
    Http2Stream stream = sending.newStream(id, windowBytes);
    stream.inputEnded = inputEnded;
    open.put(id, stream);
    return stream;
  }

  int lastBegun() {
    return lastBegun;
  }

  /** None begins any more; false: so it was before. */
  boolean beginNoMore() {
    boolean isNew = lastServed == Integer.MAX_VALUE;
    lastServed = lastBegun;
    return isNew;
  }

  /** Ends a stream early, unless it has ended. */
  void reset(Http2Stream stream, Http2Error why) {
    if (!stream.isClosed) {
      sending.reset(stream.id, why);
      close(stream);
    }
  }

  void closeIfEnded(Http2Stream stream) {
    if (stream.inputEnded && stream.outputEnded && !stream.isClosed) {
      close(stream);
    }
  }

  /** No frame of the stream comes or goes any more; all that came of it counts as used. */
  void close(Http2Stream stream) {
    open.remove(stream.id);
    used(stream.unusedBytes);
    stream.isClosed = true;
    sending.forget(stream);
    if (stream.listener != null) {
      stream.listener.closed();
    }
  }

  // ---- What the client may send ----------------------------------------------------------------

  /** Says how large the connection's window is, which begins smaller. */
  void openWindow() {
    sending.windowUpdate(0, CONNECTION_WINDOW_BYTES - Http2Frame.FIRST_WINDOW_BYTES);
  }

  /** So many bytes come of a stream; null: it has ended, and they count as used. */
  Http2Stream arrives(int id, int bytes) {
    roomBytes -= bytes;
    if (roomBytes < 0) {
      throw Http2Failure.ofConnection(
          Http2Error.FLOW_CONTROL_ERROR, "expected no more than the connection has room for");
    }
    Http2Stream stream = known(id);
    if (stream == null) {
      used(bytes);
      return null;
    }
    stream.roomBytes -= bytes;
    stream.unusedBytes += bytes;
    if (stream.roomBytes < 0) {
      throw Http2Failure.ofStream(
          Http2Error.FLOW_CONTROL_ERROR, "expected no more than the stream has room for");
    }
    return stream;
  }

  /** Bytes that came were used: the client may send as many more. */
  void consumed(Http2Stream stream, int count) {
    if (stream.isClosed || count == 0) {
      return;
    }
    used(count);
    stream.unusedBytes -= count;
    stream.usedBytes += count;
    if (stream.usedBytes >= refillBytes(windowBytes) && !stream.inputEnded) {
      sending.windowUpdate(stream.id, stream.usedBytes);
      stream.roomBytes += stream.usedBytes;
      stream.usedBytes = 0;
    }
  }

  private void used(int count) {
    usedBytes += count;
    if (usedBytes >= CONNECTION_WINDOW_BYTES / 4) { // a stream that is held up may have the rest
      sending.windowUpdate(0, usedBytes);
      roomBytes += usedBytes;
      usedBytes = 0;
    }
  }

  /** When the client gets room again: rarely enough for most tensors. */
  private static int refillBytes(int window) {
    return window - window / 4;
  }
}
