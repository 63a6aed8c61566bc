package io.nereid.internal.config;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * A model's file in a temporary directory that only this user can read, for as long as the model is
 * being loaded.
 *
 * @param spec the model, with its file's path
 * @param file the file
 */
public record TemporaryModel(ModelSpec spec, Path file) implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  /** Reads all of a stream. */
  public static TemporaryModel of(ModelSpec spec, InputStream content) {
    try {
      Path file =
          Files.createTempDirectory("nereid-model-")
              .resolve(spec.name().replaceAll("[^\\w-]", "_") + ".model");
      Map<String, String> parameters = new HashMap<>(spec.parameters());
      parameters.put(ParameterReader.MODEL_PATH, file.toString());
      TemporaryModel made = new TemporaryModel(spec.withParameters(parameters), file);
      try {
        Files.copy(content, made.file);
        return made;
      } catch (IOException | RuntimeException e) {
        made.close();
        throw e;
      }
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "the file of model '" + spec.name() + "' cannot be read or stored",
          e);
    }
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(file);
      Files.delete(file.getParent());
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "a temporary file is left behind at " + file, e);
    }
  }
}
