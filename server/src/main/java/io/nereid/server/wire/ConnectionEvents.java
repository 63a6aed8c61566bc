package io.nereid.server.wire;

import java.util.List;

/** Whoever serves the streams of one connection; everything is called on its loop. */
public interface ConnectionEvents {

  /**
   * A stream begins with a head, names and values in turns, pseudo-fields first. The same list
   * means the same head. Whoever serves the stream says so to it; what nobody serves has its reply
   * when this returns.
   *
   * @param last whether nothing follows the head, as whoever serves the stream is told next
   */
  void begun(LoopStream stream, List<String> fields, boolean last);

  /** Something was read of what the client sends. */
  void heard();

  /** The client pings; gives what is expected of one that does so too often, else null. */
  String pinged();

  /** Looks after what takes its time; gives when that is to be done next. */
  long look(long nowNs);
}
