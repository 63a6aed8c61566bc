package io.nereid.server.shared;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Says in the log for whom models were loaded and unloaded. Any thread may. */
public final class RepositoryLog {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  private RepositoryLog() {}

  /** A load that worked, or had nothing to do. */
  public static void loaded(String model, String client) {
    LOGGER.log(Level.INFO, "model '" + model + "' was loaded for " + client);
  }

  /** The same of unloading. */
  public static void unloaded(String model, String client) {
    LOGGER.log(Level.INFO, "model '" + model + "' was unloaded for " + client);
  }
}
