package io.nereid.server.wire;

/** One client's connection, as a port has it: the thread that accepts it makes and starts it. */
interface PortConnection extends Runnable {

  /** What the virtual thread is called that runs it. */
  String threadName();

  /** Whether there is room for it; it is run or ended next. */
  boolean admit();

  /** Closes it, and gives back what it held; {@link #run} does so itself in the end. */
  void end();
}
