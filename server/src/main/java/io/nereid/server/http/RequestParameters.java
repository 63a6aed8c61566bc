package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.model.SequenceId;
import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Reads a request's parameters, including the places of tensors in shared memory. */
final class RequestParameters {

  private static final String RESERVED = "triton_";

  /** The heap that an entry of a map takes, with name and value, without their characters. */
  private static final int ENTRY_BYTES = 192;

  /** Longer texts were charged when they were read. */
  private static final int SHORT_LENGTH = 1024;

  private RequestParameters() {}

  /** Sets the request's parameter at the parser's position. */
  static void take(String name, JsonReader parser, InferRequest request) {
    switch (name) {
      case "priority" ->
          request.priority((int) Math.min(Integer.MAX_VALUE, parser.unsigned("priority")));
      case "timeout" -> {
        long timeoutUs = parser.unsigned("timeout");
        if (timeoutUs > 0) { // clients send 0 for no timeout
          request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
        }
      }
      case "sequence_id" -> request.sequence(sequence(parser));
      case "sequence_start" -> request.sequenceStart(parser.bool("sequence_start"));
      case "sequence_end" -> request.sequenceEnd(parser.bool("sequence_end"));
      default -> add(name, parser, request);
    }
  }

  /** The id of a sequence: an unsigned number of 64 bits, or a string. */
  private static SequenceId sequence(JsonReader parser) {
    if (parser.token() == JsonReader.Token.STRING) {
      return SequenceId.of(parser.string());
    }
    if (parser.token() == JsonReader.Token.INTEGER) {
      if (parser.isLong() && parser.longValue() >= 0) {
        return SequenceId.of(parser.longValue());
      }
      BigInteger number = parser.isLong() ? null : parser.bigIntegerValue();
      if (number != null && number.signum() > 0 && number.bitLength() <= Long.SIZE) {
        return SequenceId.of(number.longValue());
      }
    }
    throw HttpFailure.badRequest(
        "Unable to parse 'sequence_id': expected an unsigned number of 64 bits, or a string");
  }

  /** Sets a parameter for the model. */
  static void add(String name, JsonReader parser, InferRequest request) {
    Object value = value(name, parser);
    charge(parser, name, value instanceof String text ? text : "");
    request.parameter(name, value);
  }

  /** Charges the heap for an entry with these texts that is kept until the request ends. */
  static void charge(JsonReader parser, String... texts) {
    long bytes = ENTRY_BYTES;
    for (String text : texts) {
      bytes += 2L * Math.min(text.length(), SHORT_LENGTH); // a character may take two
    }
    parser.takeHeap(bytes);
  }

  private static Object value(String name, JsonReader parser) {
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

  /** The parameters of a tensor about shared memory, which come in any order. */
  static final class RegionParameters {

    private static final long NOT_GIVEN = -1;

    private String region;
    private long byteSize = NOT_GIVEN;
    private long offset = NOT_GIVEN;

    /** Reads the parameter at the parser's position; false if it is not about shared memory. */
    boolean take(String name, JsonReader parser) {
      switch (name) {
        case "shared_memory_region" -> region = parser.name(name);
        case "shared_memory_byte_size" -> byteSize = parser.unsigned(name);
        case "shared_memory_offset" -> offset = parser.unsigned(name);
        default -> {
          return false;
        }
      }
      return true;
    }

    boolean isGiven() {
      return region != null || byteSize != NOT_GIVEN || offset != NOT_GIVEN;
    }

    long byteSize() {
      return byteSize;
    }

    /** Throws if some of these parameters were given, but not all. */
    void checkComplete() {
      if (region == null) {
        throw JsonException.missing("shared_memory_region");
      }
      if (byteSize == NOT_GIVEN) {
        throw JsonException.missing("shared_memory_byte_size");
      }
    }

    RegionSlice open(RequestSlices slices) {
      return slices.open(region, offset == NOT_GIVEN ? 0 : offset, byteSize);
    }
  }
}
