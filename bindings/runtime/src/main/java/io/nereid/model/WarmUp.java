package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A request that every instance executes while the model loads, so that the first real request is
 * not slow. If it fails, the load fails.
 *
 * @param name for messages
 * @param batchSize rows of the request; the data of each input is repeated for every row
 * @param count how often each instance executes it
 * @param inputs the content by input name
 */
public record WarmUp(String name, long batchSize, int count, Map<String, Input> inputs) {

  /** Checks the values and copies the map. */
  public WarmUp {
    Checks.notNull(name, "name");
    Checks.positive(batchSize, "batchSize");
    Checks.positive(count, "count");
    inputs = Map.copyOf(new LinkedHashMap<>(Checks.notNull(inputs, "inputs")));
  }

  /** The content of an input. */
  public sealed interface Data {}

  /** Zeros, empty strings, false. */
  public record Zero() implements Data {}

  /** Any values, the same in every run. */
  public record Random() implements Data {}

  /**
   * The tensor's bytes for one row, in the binary form of the protocol.
   *
   * @param path the file
   */
  public record Content(Path path) implements Data {}

  /**
   * One input.
   *
   * @param dataType the type of its elements
   * @param dims its shape without the batch dimension, no -1
   * @param data its content
   */
  public record Input(DataType dataType, List<Long> dims, Data data) {

    /** Copies the dimensions. */
    public Input {
      Checks.notNull(dataType, "dataType");
      dims = List.copyOf(Checks.notNull(dims, "dims"));
      Checks.notNull(data, "data");
    }
  }
}
