package io.nereid.server.http;

import java.io.IOException;
import java.util.Random;

/** Does one kind of harm to the server of a soak, again and again. For one thread. */
interface SoakAttacker {

  /** What it does, in the plural. */
  String name();

  /** Until it does it again: attackers are to disturb the load, not to be it. */
  default long pauseMs() {
    return 20;
  }

  /**
   * Does it once, and goes away.
   *
   * @throws IOException when a connection broke that the server should have kept
   * @throws AssertionError when the server did not do what it should
   */
  void attack(Random random) throws IOException;
}
