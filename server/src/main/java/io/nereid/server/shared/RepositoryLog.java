package io.nereid.server.shared;

import io.nereid.Model;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Logs which clients had models loaded and unloaded. Any thread may call. */
public final class RepositoryLog {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  private RepositoryLog() {}

  /** Logs a load that worked, or had nothing to do. */
  public static void loaded(String model, String client) {
    LOGGER.log(Level.INFO, "model '" + model + "' was loaded for " + client);
  }

  /** Logs an unload. */
  public static void unloaded(String model, String client) {
    LOGGER.log(Level.INFO, "model '" + model + "' was unloaded for " + client);
  }

  /** Logs a version to which requests that name no version go from now on. */
  public static void promoted(Model model, String client) {
    LOGGER.log(
        Level.INFO,
        "version {0} of model ''{1}'' was promoted for {2}",
        Long.toString(model.version()),
        model.name(),
        client);
  }
}
