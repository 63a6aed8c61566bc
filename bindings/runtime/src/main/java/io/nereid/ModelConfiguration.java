package io.nereid;

import io.nereid.proto.ModelConfig;
import java.util.List;

/**
 * The configuration that a model is served with, and where each of its values came from.
 *
 * @param message all of it
 * @param values its values, in the order of the message's fields
 */
public record ModelConfiguration(ModelConfig message, List<Value> values) {

  /** Where a value came from. */
  public enum Origin {
    /** The file {@code config.pbtxt}. */
    FILE,
    /** The configuration that was given with the load. */
    OVERRIDE,
    /** The model itself. */
    MODEL,
    /** Nobody said anything else. */
    DEFAULT
  }

  /**
   * One value.
   *
   * @param path where it is in the message, such as {@code input[0].dims}
   * @param text the value as the text format has it
   * @param origin where it came from
   * @param place its file, line and column, where it is in a file; else empty
   */
  public record Value(String path, String text, Origin origin, String place) {}

  static ModelConfiguration of(ModelSpec spec) {
    return new ModelConfiguration(ModelConfig.getDefaultInstance(), List.of());
  }

  /** Copies the list. */
  public ModelConfiguration {
    values = List.copyOf(values);
  }
}
