package io.nereid.server.grpc;

import io.nereid.InferRequest;
import io.nereid.model.SequenceId;
import io.nereid.types.NereidException;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The parameters of a request, an input or an output: a {@code map<string, InferParameter>}, read
 * on the thread that reads the message.
 */
final class MessageParameters {

  static final String SHARED_MEMORY_REGION = "shared_memory_region";

  /** The heap of an entry of a map, with a name and a value that are short. */
  static final long ENTRY_BYTES = 150;

  /** The only parameter of Triton's own that a request may have. */
  private static final String ENABLE_EMPTY_FINAL = "triton_enable_empty_final_response";

  /** The values by name: each a Boolean, a Long, a String, a Double or one of the types below. */
  private final Map<String, Object> values = new LinkedHashMap<>();

  /** The value of a uint64, as its bits. */
  private record Unsigned(long bits) {
    Object value() {
      return bits >= 0 ? bits : (Object) new BigInteger(Long.toUnsignedString(bits));
    }
  }

  /** A value of none of the types that are known here. */
  private enum Unset {
    UNSET
  }

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads one entry, after its tag. */
  void readEntry(WireReader in) {
    in.countPart();
    long outer = in.enter(in.readLength());
    String key = "";
    Object value = Unset.UNSET;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.DELIMITED -> key = in.readString();
        case 2 << 3 | WireReader.DELIMITED -> value = readValue(in, value);
        default -> in.skipField(tag);
      }
    }
    in.leave(outer);
    values.put(key, value);
  }

  private static Object readValue(WireReader in, Object before) {
    long outer = in.enter(in.readLength());
    Object value = before;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireReader.VARINT -> value = in.readVarint() != 0;
        case 2 << 3 | WireReader.VARINT -> value = in.readVarint();
        case 3 << 3 | WireReader.DELIMITED -> value = in.readString();
        case 4 << 3 | WireReader.FIXED64 -> value = Double.longBitsToDouble(in.readFixed64());
        case 5 << 3 | WireReader.VARINT -> value = new Unsigned(in.readVarint());
        default -> in.skipField(tag);
      }
    }
    in.leave(outer);
    return value;
  }

  // ---- What they say ---------------------------------------------------------------------------

  /** True if they place a tensor in shared memory. */
  boolean nameSharedMemory() {
    return values.containsKey(SHARED_MEMORY_REGION);
  }

  /** The heap that they take. */
  long bytes() {
    long bytes = ENTRY_BYTES * values.size();
    for (Map.Entry<String, Object> entry : values.entrySet()) {
      int length = entry.getValue() instanceof String text ? text.length() : 0;
      bytes += (long) Character.BYTES * (entry.getKey().length() + length);
    }
    return bytes;
  }

  /** A string; null when it was not given. */
  String string(String key) {
    return switch (values.get(key)) {
      case null -> null;
      case String text -> text;
      default -> throw wrongType(key, "string_param");
    };
  }

  /** A number that is not negative; {@code otherwise} when it was not given. */
  long unsigned(String key, long otherwise) {
    return switch (values.get(key)) {
      case null -> otherwise;
      case Long number -> notNegative(key, number);
      case Unsigned number -> number.bits() < 0 ? Long.MAX_VALUE : number.bits();
      default -> throw wrongType(key, "int64_param or uint64_param");
    };
  }

  /** True if a stream is to end with an empty response where the model sends no final one. */
  boolean enablesEmptyFinal() {
    return bool(ENABLE_EMPTY_FINAL);
  }

  private boolean bool(String key) {
    return switch (values.get(key)) {
      case null -> false;
      case Boolean value -> value;
      default -> throw wrongType(key, "bool_param");
    };
  }

  /** Sets a request's properties from the parameters. */
  void applyTo(InferRequest request) {
    values.forEach((key, value) -> {
      switch (key) {
        case "priority" -> request.priority((int) Math.min(Integer.MAX_VALUE, unsigned(key, 0)));
        case "timeout" -> timeout(request, value);
        case ENABLE_EMPTY_FINAL -> bool(key);
        case "sequence_start" -> request.sequenceStart(bool(key));
        case "sequence_end" -> request.sequenceEnd(bool(key));
        case "sequence_id" -> request.sequence(sequence(key, value));
        default -> request.parameter(key, custom(key, value));
      }
    });
  }

  private static void timeout(InferRequest request, Object value) {
    if (!(value instanceof Long)) {
      throw wrongType("timeout", "int64_param");
    }
    long timeoutUs = notNegative("timeout", (long) value);
    if (timeoutUs > 0) { // clients send 0 for no timeout
      request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
    }
  }

  /** Reads a sequence's id; a number counts as unsigned in any field. */
  private static SequenceId sequence(String key, Object value) {
    return switch (value) {
      case Long number -> SequenceId.of(number);
      case Unsigned number -> SequenceId.of(number.bits());
      case String name -> SequenceId.of(name);
      default -> throw wrongType(key, "int64_param, uint64_param or string_param");
    };
  }

  private static Object custom(String key, Object value) {
    return switch (value) {
      case Unsigned number -> number.value();
      case Unset unset ->
          throw wrongType(
              key, "bool_param, int64_param, string_param, double_param or uint64_param");
      default -> value;
    };
  }

  private static long notNegative(String key, long value) {
    if (value < 0) {
      throw GrpcStatus.invalidArgument(
          "invalid value for '" + key + "' parameter, expected >= 0, got " + value);
    }
    return value;
  }

  private static NereidException wrongType(String key, String expected) {
    return GrpcStatus.invalidArgument(
        "invalid value type for '" + key + "' parameter, expected " + expected);
  }

  /** Names and values, of which each shows its type. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    values.forEach((key, value) -> {
      String shown =
          switch (value) {
            case String string -> "'" + string + "'";
            case Unsigned number -> number.value() + "u";
            default -> value.toString();
          };
      text.append(key).append('=').append(shown).append(' ');
    });
    return text.toString();
  }
}
