package io.nereid.server.shared;

import io.nereid.Model;
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

  /** A version to which requests go that name none. */
  public static void promoted(Model model, String client) {
    LOGGER.log(
        Level.INFO,
        "version {0} of model ''{1}'' was promoted for {2}",
        Long.toString(model.version()),
        model.name(),
        client);
  }
}
