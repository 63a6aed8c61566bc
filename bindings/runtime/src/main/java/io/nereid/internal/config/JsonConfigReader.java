package io.nereid.internal.config;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.TextFormat;
import io.nereid.internal.config.ConfigSource.JsonPath;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * Reads a configuration in JSON, in protobuf's mapping. The JSON becomes text format with one value
 * a line, which is parsed as any other configuration. Written zeros are thereby kept apart from
 * defaults, and messages name the place in the JSON.
 */
final class JsonConfigReader {

  /** No value needs more digits, and arithmetic on many takes long. */
  private static final int MAX_NUMBER_LENGTH = 100;

  private static final int MAX_DEPTH = 32;

  private static final int MAX_NAME_LENGTH = ConfigNode.MAX_KEY_LENGTH;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(JsonReadFeature.ALLOW_UNQUOTED_PROPERTY_NAMES) // as protobuf's own reader does
          .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER_LENGTH)
                  .maxNameLength(MAX_NAME_LENGTH)
                  .build())
          .build();

  private final String shown;
  private final JsonParser parser;
  private final StringBuilder text = new StringBuilder();
  private final List<JsonPath> paths = new ArrayList<>();

  private JsonConfigReader(String shown, JsonParser parser) {
    this.shown = shown;
    this.parser = parser;
  }

  /**
   * The configuration in a JSON text.
   *
   * @param shown how messages name it
   */
  static ConfigNode read(String json, String shown) {
    if (json.length() > ConfigNode.MAX_BYTES
        || json.getBytes(StandardCharsets.UTF_8).length > ConfigNode.MAX_BYTES) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          shown + " is larger than " + ConfigNode.MAX_BYTES + " bytes");
    }
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), json)) {
      return new JsonConfigReader(shown, parser).read();
    } catch (JacksonException e) {
      throw malformed(shown, e);
    } catch (TextFormat.ParseException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, shown + " cannot be read as a model configuration", e);
    }
  }

  private static NereidException malformed(String shown, JacksonException cause) {
    var location = cause.getLocation();
    String place =
        location == null ? "" : ":" + location.getLineNr() + ":" + location.getColumnNr();
    String what = cause instanceof StreamConstraintsException ? ": " : ": no JSON: ";
    NereidException failure =
        new NereidException(
            StatusCode.INVALID_ARGUMENT,
            shown + place + what + ModelFiles.printable(cause.getOriginalMessage()));
    failure.initCause(cause);
    return failure;
  }

  private ConfigNode read() throws TextFormat.ParseException {
    parser.nextToken();
    expect(JsonToken.START_OBJECT, "an object", JsonPath.ROOT);
    message(ModelConfig.getDescriptor(), JsonPath.ROOT);
    if (parser.nextToken() != null) {
      throw invalid(JsonPath.ROOT, "expected nothing after the object");
    }
    return ConfigNode.parse(text.toString(), new ConfigSource.Json(shown, paths));
  }

  // ---- Messages --------------------------------------------------------------------------------

  private void message(Descriptor type, JsonPath path) {
    Set<FieldDescriptor> seen = new HashSet<>();
    Map<OneofDescriptor, FieldDescriptor> chosen = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      FieldDescriptor field = field(type, name, path);
      JsonPath inner = path.field(field.getName());
      if (!seen.add(field)) {
        throw invalid(inner, "the field is there twice, under both of its names");
      }
      if (parser.nextToken() == JsonToken.VALUE_NULL) {
        continue; // null counts as absent
      }
      OneofDescriptor oneof = field.getContainingOneof();
      FieldDescriptor other = oneof == null ? null : chosen.put(oneof, field);
      if (other != null) {
        throw invalid(inner, "'" + other.getName() + "' is there already: only one of them can be");
      }
      value(field, inner);
    }
  }

  private FieldDescriptor field(Descriptor type, String name, JsonPath path) {
    for (FieldDescriptor field : type.getFields()) {
      if (field.getName().equals(name) || field.getJsonName().equals(name)) {
        return field;
      }
    }
    throw invalid(path, ConfigFields.unknown(type, JsonPath.shortened(name)));
  }

  private void value(FieldDescriptor field, JsonPath path) {
    if (field.isMapField()) {
      map(field, path);
    } else if (field.isRepeated()) {
      expect(JsonToken.START_ARRAY, "an array", path);
      for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
        if (i == ConfigNode.MAX_ELEMENTS) {
          throw invalid(path, "expected at most " + i + " elements, got more");
        }
        single(field, path.element(i));
      }
    } else {
      single(field, path);
    }
  }

  private void single(FieldDescriptor field, JsonPath path) {
    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
      expect(JsonToken.START_OBJECT, "an object", path);
      line(field.getName() + " {", path);
      message(field.getMessageType(), path);
      line("}", path);
    } else {
      line(field.getName() + ": " + scalar(field, path), path);
    }
  }

  private void map(FieldDescriptor field, JsonPath path) {
    expect(JsonToken.START_OBJECT, "an object", path);
    FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
    FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
    Set<String> keys = new HashSet<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      JsonPath inner = path.key(name);
      String written =
          key.getJavaType() == FieldDescriptor.JavaType.STRING
              ? JsonScalars.string(name)
              : JsonScalars.integer(key, name, reason -> invalid(inner, "key: " + reason));
      if (!keys.add(written)) {
        throw invalid(inner, "the key is there twice");
      }
      parser.nextToken();
      line(field.getName() + " {", inner);
      line("key: " + written, inner);
      single(value, inner);
      line("}", inner);
    }
  }

  private void line(String line, JsonPath path) {
    text.append(line).append('\n');
    paths.add(path);
  }

  // ---- Values ----------------------------------------------------------------------------------

  private String scalar(FieldDescriptor field, JsonPath path) {
    JsonScalars.Failure failure = reason -> invalid(path, reason);
    JsonToken token = parser.currentToken();
    boolean isString = token == JsonToken.VALUE_STRING;
    boolean isNumber = token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT;
    String given = isString || isNumber ? parser.getString() : "";
    switch (field.getJavaType()) {
      case STRING -> {
        expect(JsonToken.VALUE_STRING, "a string", path);
        return JsonScalars.string(given);
      }
      case BOOLEAN -> {
        if (!token.isBoolean()) {
          throw invalid(path, "expected true or false, got " + found());
        }
        return token == JsonToken.VALUE_TRUE ? "true" : "false";
      }
      case ENUM -> {
        if (isString) {
          return JsonScalars.constant(field.getEnumType(), given, failure);
        } else if (isNumber) {
          return JsonScalars.constantOfNumber(field.getEnumType(), given, failure);
        }
        throw invalid(path, "expected a name of " + field.getEnumType().getName());
      }
      case INT, LONG, FLOAT, DOUBLE -> {
        if (!isString && !isNumber) {
          throw invalid(path, "expected a number, got " + found());
        }
        return switch (field.getJavaType()) {
          case INT, LONG -> JsonScalars.integer(field, given, failure);
          default -> JsonScalars.real(field, given, failure);
        };
      }
      default -> throw invalid(path, "a configuration has no fields of " + field.getType());
    }
  }

  private void expect(JsonToken expected, String what, JsonPath path) {
    if (parser.currentToken() != expected) {
      throw invalid(path, "expected " + what + ", got " + found());
    }
  }

  private String found() {
    return switch (parser.currentToken()) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a string";
      case VALUE_NULL -> "null";
      case null -> "nothing";
      default -> parser.getString();
    };
  }

  private NereidException invalid(JsonPath path, String reason) {
    return ConfigNode.failure(
        StatusCode.INVALID_ARGUMENT, path == JsonPath.ROOT ? shown : shown + " at " + path, reason);
  }
}
