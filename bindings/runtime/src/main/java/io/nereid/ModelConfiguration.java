package io.nereid;

import io.nereid.internal.repository.ConfigPrinter;
import io.nereid.internal.repository.ConfigValues;
import io.nereid.internal.repository.JsonConfigWriter;
import io.nereid.internal.repository.SpecWriter;
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
    DEFAULT,
    /** The program that loaded the model from a {@link ModelSpec}. */
    CODE
  }

  /**
   * One value.
   *
   * @param path where it is in the message, such as {@code input[0].dims} or {@code
   *     parameters["key"].value.string_value}
   * @param text the value as the text format has it
   * @param origin where it came from
   * @param place its file, line and column, where it is in a file; else empty
   */
  public record Value(String path, String text, Origin origin, String place) {

    /** Checks that there is something. */
    public Value {
      Checks.notNull(path, "path");
      Checks.notNull(text, "text");
      Checks.notNull(origin, "origin");
      Checks.notNull(place, "place");
    }
  }

  /** Copies the list. */
  public ModelConfiguration {
    Checks.notNull(message, "message");
    values = List.copyOf(Checks.notNull(values, "values"));
  }

  /** The configuration of a model that a program describes. Its outputs' labels are not in it. */
  public static ModelConfiguration of(ModelSpec spec) {
    ModelConfig message = SpecWriter.write(spec);
    return new ModelConfiguration(message, ConfigValues.ofCode(message));
  }

  /** As JSON in Triton's form: snake_case names, 64-bit numbers as numbers, on one line. */
  public String toJson() {
    return JsonConfigWriter.write(message);
  }

  /** As the text of a {@code config.pbtxt}. */
  public String toText() {
    return ConfigPrinter.print(message, values, false);
  }

  /** As {@link #toText}, with a comment on each value that says where it came from. */
  public String toCommentedText() {
    return ConfigPrinter.print(message, values, true);
  }
}
