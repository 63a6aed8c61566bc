package io.nereid.server.shared;

import io.nereid.Repository;
import io.nereid.model.ModelOverride;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.LinkedHashMap;
import java.util.Map;

/** The parameters of a request to load a model, from any protocol. */
public final class LoadParameters {

  /** The name of the parameter with the model's configuration. */
  public static final String CONFIG = "config";

  private static final String FILE_PREFIX = "file:";

  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private String config;

  /** True if a parameter of this name is a file of the model; other names must be known. */
  public static boolean isFile(String name) {
    if (name.startsWith(FILE_PREFIX)) {
      return true;
    }
    if (name.equals(CONFIG)) {
      return false;
    }
    throw invalid("unrecognized load parameter '" + name + "': expected 'config' or 'file:PATH'");
  }

  /** Sets the configuration, in JSON. */
  public void config(String json) {
    config = json;
  }

  /** Adds a file; {@code name} is the parameter's. */
  public void file(String name, byte[] contents) {
    files.put(name.substring(FILE_PREFIX.length()), contents);
  }

  /** Loads a model with these parameters; returns when it takes requests. */
  public void load(Repository repository, String model) {
    if (config != null) {
      repository.load(model, new ModelOverride(config, files));
    } else if (files.isEmpty()) {
      repository.load(model);
    } else {
      throw invalid(
          "failed to load '"
              + model
              + "', override of files needs parameter 'config' with the model's configuration");
    }
  }

  /** Throws unless a request to unload a model may have a parameter of this name. */
  public static void checkUnload(String name) {
    if (!name.equals("unload_dependents")) {
      throw invalid("unrecognized unload parameter '" + name + "': expected 'unload_dependents'");
    }
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }
}
