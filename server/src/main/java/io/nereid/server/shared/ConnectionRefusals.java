package io.nereid.server.shared;

/** How many connections beyond a limit are told that they are too many; more are only closed. */
public final class ConnectionRefusals {

  private static final int LEAST = 8;
  private static final int MOST = 64;

  private ConnectionRefusals() {}

  /** For a frontend with that many connections. */
  public static int of(int connections) {
    return Math.clamp(connections / 16, LEAST, MOST);
  }
}
