package io.nereid.server.wire;

import java.nio.ByteBuffer;

/** Whoever serves a stream; everything is called on the loop of its connection. */
public interface StreamEvents {

  /** The next bytes of the body, all of which are read then; gives how many are used already. */
  int received(ByteBuffer bytes);

  /** Nothing follows what came of the body. */
  void inputEnded();

  /** There is room for more of the reply. */
  void ready();

  /** Nothing comes or goes any more; whether the reply was sent to its end. */
  void ended(boolean complete);
}
