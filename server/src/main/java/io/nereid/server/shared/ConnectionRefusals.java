package io.nereid.server.shared;

/** The connections beyond a limit that are told that they are too many; more are only closed. */
public final class ConnectionRefusals {

  private static final int LEAST = 8;
  private static final int MOST = 64;

  private ConnectionRefusals() {}

  /** For a frontend with that many connections. */
  public static int of(int connections) {
    return Math.clamp(connections / 16, LEAST, MOST);
  }
}
