package io.nereid.server.wire;

import java.nio.ByteBuffer;

/** What the codec knows of a stream. Guarded by the connection's lock. */
final class Http2Stream {

  /** Whoever reads what comes, and replies; called with the connection's lock. */
  interface Listener {
    /** Gives how many of the bytes need not be waited for. */
    int received(ByteBuffer data, boolean last);

    /** Nothing follows what came. */
    void inputEnded();

    /** What had no room in the client's windows was sent. */
    void sent();

    /** Nothing comes or goes any more. */
    void closed();
  }

  final int id;
  Listener listener; // null: it was refused

  boolean isClosed; // nothing comes or goes any more

  // What comes.
  boolean inputEnded;
  long missingBytes = RequestHead.ABSENT; // of the body, if its head says how long that is
  int roomBytes; // that the client may send now
  int unusedBytes; // that came and nobody has used
  int usedBytes; // that the client has not been told of

  // What goes.
  boolean outputEnded;
  long windowBytes; // that the client takes now; less than none where it took back what it said
  ByteBuffer unsent; // what waits for room in a window; null: nothing does
  boolean unsentIsLent;
  boolean unsentIsLast;
  boolean isInTurn; // among those that wait for the connection's window

  Http2Stream(int id, int roomBytes, long windowBytes) {
    this.id = id;
    this.roomBytes = roomBytes;
    this.windowBytes = windowBytes;
  }
}
