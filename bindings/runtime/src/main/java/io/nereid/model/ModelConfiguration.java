package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * The configuration that a model is served with, and where each of its values came from. The
 * runtime makes it. It is a message of Triton's {@code ModelConfig}, but has no type of protobuf,
 * so that the runtime's own copy of protobuf never meets another.
 */
public interface ModelConfiguration {

  /** The source of a value. */
  enum Origin {
    /** The file {@code config.pbtxt}. */
    FILE,
    /** The configuration that was given with the load. */
    OVERRIDE,
    /** The model itself. */
    MODEL,
    /** The value is the default. */
    DEFAULT,
    /** The program that loaded the model from a {@link ModelSpec}. */
    CODE,
    /** The options of the repository: {@link RepositoryOptions#objectives}. */
    OPTION
  }

  /**
   * One value.
   *
   * @param path the place in the message, such as {@code input[0].dims} or {@code
   *     parameters["key"].value.string_value}
   * @param text the value as the text format has it
   * @param origin where it came from
   * @param place its file, line and column, where it is in a file; else empty
   */
  record Value(String path, String text, Origin origin, String place) {

    /** Checks that there is something. */
    public Value {
      Checks.notNull(path, "path");
      Checks.notNull(text, "text");
      Checks.notNull(origin, "origin");
      Checks.notNull(place, "place");
    }
  }

  /** Its values, in the order of the message's fields. */
  List<Value> values();

  /** The platform that it names; empty when it names none. */
  String platform();

  /**
   * The configuration as JSON in Triton's form: snake_case names, 64-bit numbers as numbers, on one
   * line.
   */
  String toJson();

  /** The configuration as the text of a {@code config.pbtxt}. */
  String toText();

  /**
   * Does the same as {@link #toText}, with a comment on each value that says where it came from.
   */
  String toCommentedText();

  /**
   * The configuration as the bytes of its message, for programs that have protobuf's classes to
   * read it with.
   */
  byte[] toProtobuf();
}
