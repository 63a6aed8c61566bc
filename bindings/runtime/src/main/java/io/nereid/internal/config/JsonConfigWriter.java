package io.nereid.internal.config;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.StringWriter;
import java.math.BigInteger;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes configurations in JSON as Triton does: snake_case names, 64-bit numbers as numbers, and
 * every field but messages that are absent and choices that were not made.
 */
final class JsonConfigWriter {

  private static final JsonFactory JSON = new JsonFactory();

  private final JsonGenerator json;

  private JsonConfigWriter(JsonGenerator json) {
    this.json = json;
  }

  /** The message as a JSON object, on one line. */
  static String write(Message message) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      new JsonConfigWriter(json).message(message);
    }
    return text.toString();
  }

  private void message(Message message) {
    json.writeStartObject();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (field.isRepeated() || !field.hasPresence() || message.hasField(field)) {
        json.writeName(field.getName());
        field(field, message.getField(field));
      }
    }
    json.writeEndObject();
  }

  private void field(FieldDescriptor field, Object value) {
    if (field.isMapField()) {
      json.writeStartObject();
      for (Object entry : (List<?>) value) {
        Message pair = (Message) entry;
        FieldDescriptor inner = field.getMessageType().findFieldByNumber(2);
        json.writeName(ConfigNode.key(pair, field.getMessageType().findFieldByNumber(1)));
        single(inner, pair.getField(inner));
      }
      json.writeEndObject();
    } else if (field.isRepeated()) {
      json.writeStartArray();
      ((List<?>) value).forEach(element -> single(field, element));
      json.writeEndArray();
    } else {
      single(field, value);
    }
  }

  private void single(FieldDescriptor field, Object value) {
    switch (value) {
      case Message message -> message(message);
      case String text -> json.writeString(text);
      case Boolean truth -> json.writeBoolean(truth);
      case EnumValueDescriptor constant when constant.getIndex() < 0 ->
          json.writeNumber(constant.getNumber());
      case EnumValueDescriptor constant -> json.writeString(constant.getName());
      case Integer number when field.getType() == FieldDescriptor.Type.UINT32 ->
          json.writeNumber(Integer.toUnsignedLong(number));
      case Integer number -> json.writeNumber(number);
      case Long number when field.getType() == FieldDescriptor.Type.UINT64 ->
          json.writeNumber(new BigInteger(Long.toUnsignedString(number)));
      case Long number -> json.writeNumber(number);
      // Those that JSON has no numbers for are written as words in quotes.
      case Float number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      default -> throw new IllegalArgumentException("no JSON for " + field.getFullName());
    }
  }
}
