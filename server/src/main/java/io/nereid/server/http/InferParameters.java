package io.nereid.server.http;

import io.nereid.InferRequest;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Reads what a request says beside its tensors. */
final class InferParameters {

  private static final String RESERVED = "triton_";

  private InferParameters() {}

  /** Gives the request the parameter that the parser is at. */
  static void take(String name, JsonReader parser, InferRequest request) {
    switch (name) {
      case "priority" ->
          request.priority((int) Math.min(Integer.MAX_VALUE, parser.unsigned("priority")));
      case "timeout" -> {
        long timeoutUs = parser.unsigned("timeout");
        if (timeoutUs > 0) { // 0 is how clients say that there is none
          request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
        }
      }
      default -> request.parameter(name, value(name, parser));
    }
  }

  /** The value of a parameter that means something to the model only. */
  static Object value(String name, JsonReader parser) {
    return switch (parser.token()) {
      case TRUE -> true;
      case FALSE -> false;
      case STRING -> parser.string();
      case FRACTION -> parser.doubleValue();
      case INTEGER -> parser.isLong() ? (Object) parser.longValue() : parser.bigIntegerValue();
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
