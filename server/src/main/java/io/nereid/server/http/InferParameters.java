package io.nereid.server.http;

import io.nereid.InferRequest;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import tools.jackson.core.JsonParser;

/** Reads what a request says beside its tensors. */
final class InferParameters {

  private static final String RESERVED = "triton_";

  private InferParameters() {}

  /** Gives the request the parameter that the parser is at. */
  static void take(String name, JsonParser parser, InferRequest request) {
    switch (name) {
      case "priority" ->
          request.priority(
              (int) Math.min(Integer.MAX_VALUE, JsonParsing.unsigned(parser, "priority")));
      case "timeout" -> {
        long timeoutUs = JsonParsing.unsigned(parser, "timeout");
        if (timeoutUs > 0) { // 0 is how clients say that there is none
          request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
        }
      }
      default -> request.parameter(name, value(name, parser));
    }
  }

  /** The value of a parameter that means something to the model only. */
  static Object value(String name, JsonParser parser) {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? parser.getBigIntegerValue()
              : (Object) parser.getLongValue();
      default ->
          throw HttpFailure.badRequest(
              name.startsWith(RESERVED)
                  ? "parameter keys starting with 'triton_' are reserved for Triton usage and"
                      + " should not be specified."
                  : "parameter '"
                      + name
                      + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
    };
  }
}
