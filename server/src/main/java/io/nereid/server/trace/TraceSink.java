package io.nereid.server.trace;

import java.io.IOException;
import java.util.List;

/** Where traces end up. Used by the trace thread, but for {@link #endBy}. */
interface TraceSink {

  /** Takes traces; fails when they are lost. */
  void write(List<Trace> traces) throws IOException;

  /** From now on nothing may take longer than until then, by the clock of System.nanoTime. */
  default void endBy(long deadlineNs) {}
}
