package io.nereid.internal.config;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.nereid.internal.JsonText;
import java.math.BigInteger;
import java.util.List;

/**
 * Writes configurations in JSON as Triton does: snake_case names, 64-bit numbers as numbers, and
 * every field except absent messages and unset choices.
 */
final class JsonConfigWriter {

  private JsonConfigWriter() {}

  /** The message as a JSON object, on one line. */
  static String write(Message message) {
    return JsonText.of(object(message));
  }

  private static JsonText.Members object(Message message) {
    JsonText.Members object = JsonText.object();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (field.isRepeated() || !field.hasPresence() || message.hasField(field)) {
        object.with(field.getName(), value(field, message.getField(field)));
      }
    }
    return object;
  }

  private static Object value(FieldDescriptor field, Object value) {
    if (!field.isRepeated()) {
      return single(field, value);
    }
    List<?> elements = (List<?>) value;
    if (!field.isMapField()) {
      return elements.stream().map(element -> single(field, element)).toList();
    }
    FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
    FieldDescriptor inner = field.getMessageType().findFieldByNumber(2);
    JsonText.Members entries = JsonText.object();
    for (Object entry : elements) {
      Message pair = (Message) entry;
      entries.with(ConfigNode.key(pair, key), single(inner, pair.getField(inner)));
    }
    return entries;
  }

  private static Object single(FieldDescriptor field, Object value) {
    return switch (value) {
      case Message message -> object(message);
      case EnumValueDescriptor constant when constant.getIndex() < 0 -> constant.getNumber();
      case EnumValueDescriptor constant -> constant.getName();
      case Integer number when field.getType() == FieldDescriptor.Type.UINT32 ->
          Integer.toUnsignedLong(number);
      case Long number when field.getType() == FieldDescriptor.Type.UINT64 ->
          new BigInteger(Long.toUnsignedString(number));
      default -> value;
    };
  }
}
