package io.nereid.perf;

import java.io.IOException;
import java.util.List;

/** Opens slots of one kind, and owns the threads that serve them. */
interface Slots extends AutoCloseable {

  /** A slot that is ready to send; blocks until it is connected. */
  Slot open(int index, LoadRun run) throws IOException;

  /** One for each thread or connection that counts for itself. */
  List<Tally> tallies();

  /** Also closes what the slots share; they are closed before. */
  @Override
  void close();
}
