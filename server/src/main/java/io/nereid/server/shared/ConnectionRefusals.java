package io.nereid.server.shared;

/**
 * The number of connections beyond a limit that get a refusal as reply; further ones are only
 * closed.
 */
public final class ConnectionRefusals {

  private static final int LEAST = 8;
  private static final int MOST = 64;

  private ConnectionRefusals() {}

  /** The number for a frontend with that many connections. */
  public static int of(int connections) {
    return Math.clamp(connections / 16, LEAST, MOST);
  }
}
